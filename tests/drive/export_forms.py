"""Reading what `trapline convert` wrote with programs of others (babeltrace2, protoc) and Python's json, for tests/drive/export-test.

Each reader gives (records, gaps): records are tuples (cpu, time in ns, pid, event, {field: value}), numbers as they are, arrays as
lists; gaps are (cpu, number). In the order of their times; of a CPU, of the file.
"""
import json, os, re, subprocess


class Wrong(Exception):
    pass


def output_of(*cmd, **how):
    got = subprocess.run(cmd, capture_output=True, timeout=300, **how)
    if got.returncode:
        raise Wrong("%s: exit status %d: %s" % (cmd[0], got.returncode, got.stderr.decode(errors="replace")[:300]))
    return got.stdout.decode(errors="replace"), got.stderr.decode(errors="replace")


def unescape(text):
    return re.sub(r"\\(n|\"|\\|t|'|[0-7]{3})", lambda m: {"n": "\n", "t": "\t"}.get(m[1]) or
                  (chr(int(m[1], 8)) if m[1].isdigit() else m[1]), text)


def by_time(records):
    """Those of one time and CPU by their names: a slice of JSON stands where it ends, and has two records."""
    return sorted(records, key=lambda r: (r[1], r[0], r[3]))


# ---- JSON ----------------------------------------------------------------------------------------------------------------------

def nanoseconds(us):
    whole, _, ns = us.partition(".")
    return int(whole) * 1000 + int(ns)


def json_record(args, time, tid, name):
    args = dict(args)
    cpu, name, tid = args.pop("common_cpu"), args.pop("common_event", name), args.pop("common_pid", tid)
    args.pop("common_flags")
    return (cpu, time, tid, name, {k: int(v, 16) if isinstance(v, str) and re.match(r"0x[0-9a-f]{14,16}$", v) else v for k, v in args.items()})


def read_json(path):
    """An instant is a record; a slice, if it is not of who ran on a CPU, is those of its begin and its end."""
    records, gaps = [], []
    whole = json.load(open(path), parse_float=str)
    for e in whole["traceEvents"]:
        if e["ph"] == "M" or e["ph"] == "X" and e["pid"] == 0:
            continue
        time, tid = nanoseconds(e["ts"]), e["tid"]
        if e["name"] == "lost events":
            gaps.append((e["args"]["common_cpu"], e["args"]["count"]))
        elif e["ph"] == "i":
            records.append(json_record(e["args"], time, tid, e["name"]))
        elif e["ph"] in "XB":
            for half, at in (("begin", time), ("end", time + nanoseconds(e.get("dur", "0.0")))):
                if half in e["args"]:
                    records.append(json_record(e["args"][half], at, tid, e["name"]))
        else:
            raise Wrong("JSON: what is this? %s" % e)
    if "ledger" not in whole["otherData"]:
        raise Wrong("no ledger in the JSON")
    return by_time(records), gaps


# ---- CTF -----------------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|[{}\[\],=]|[^\s{}\[\],="]+)')


def parse_struct(tokens, end):
    """Fields up to `end`: {name: value} or, for [0] = ..., a list."""
    fields, items = {}, []
    while True:
        t = next(tokens)
        if t == end:
            return items if end == "]" else fields
        if t == ",":
            continue
        if t == "[":
            next(tokens), next(tokens)  # "0]"
            t = None
        if next(tokens) != "=":
            raise Wrong("babeltrace2: no '=' behind %s" % t)
        v = next(tokens)
        if v in "{[":
            v = parse_struct(tokens, {"{": "}", "[": "]"}[v])
        elif v.startswith('"'):
            v = unescape(v[1:-1])
            if re.match(r"0x[0-9a-f]+$", v):  # the address of a text that nobody has
                v = int(v, 16)
        else:
            v = int(v, 0)
        if t is None:
            items.append(v)
        else:
            fields[t] = v


def read_ctf(path):
    out, err = output_of("babeltrace2", "--clock-cycles", "--no-delta", path, env=dict(os.environ, LC_ALL="C", TZ="UTC"))
    gaps = [(int(m[2]), int(m[1])) for m in
            re.finditer(r"discarded (\d+) events? .* within stream \".*/cpu(\d+)\"", err)]
    records = []
    for line in out.split("\n"):
        m = re.match(r"^\[(\d+)\] (\S+): (.*)$", line)
        if not m:
            if line:
                raise Wrong("babeltrace2: what is this line? " + line)
            continue
        tokens = iter(TOKEN.findall(m[3] + " ,"))
        structs = []
        for t in tokens:
            if t == "{":
                structs.append(parse_struct(tokens, "}"))
        packet, context = structs[0], structs[1]
        fields = structs[2] if len(structs) > 2 else {}
        fields = {k: v for k, v in fields.items() if not re.match(r"_.*_length$", k)}
        records.append((packet["cpu_id"], int(m[1]), context["pid"], m[2], fields))
    return by_time(records), gaps


# ---- Perfetto ------------------------------------------------------------------------------------------------------------------

def parse_text_proto(lines):
    """{name: [value or message, ...]} up to the closing brace."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        name, _, rest = line.partition(" ")
        if rest == "{":
            message.setdefault(name, []).append(parse_text_proto(lines))
        else:
            v = rest
            message.setdefault(name.rstrip(":"), []).append(unescape(v[1:-1]) if v.startswith('"') else v)
    return message


def number(text):
    return {"true": 1, "false": 0}[text] if text in ("true", "false") else int(text)


def generic_field(f):
    name = f["name"][0]
    if "int_value" in f or "uint_value" in f:
        return name, number((f.get("int_value") or f["uint_value"])[0])
    text = f.get("str_value", [""])[0]
    if re.match(r"\{(-?\d+(,-?\d+)*)?\}$", text):
        return name, [int(n) for n in text[1:-1].split(",") if n]
    return name, text


def read_perfetto(path, proto):
    out, _ = output_of("protoc", "--decode=perfetto.protos.Trace", "-I", os.path.dirname(proto), proto,
                       stdin=open(path, "rb"))
    whole = parse_text_proto(iter(out.split("\n")))
    records, gaps, told = [], [], 0
    for packet in whole["packet"]:
        for bundle in packet.get("ftrace_events", []):
            cpu = int(bundle["cpu"][0])
            told += bundle.get("lost_events", ["false"])[0] == "true"
            for e in bundle.get("event", []):
                time, pid = int(e["timestamp"][0]), int(e["pid"][0])
                if "generic" in e:
                    g = e["generic"][0]
                    name = g["event_name"][0]
                    fields = dict(generic_field(f) for f in g.get("field", []))
                    if name == "lost_events":
                        gaps.append((cpu, fields["count"]))
                        continue
                else:
                    name = next(k for k in e if k not in ("timestamp", "pid", "common_flags"))
                    fields = {}
                    for k, values in e[name][0].items():
                        values = [number(v) if re.match(r"-?\d+$|true$|false$", v) else v for v in values]
                        fields[k] = values if k == "args" else values[0]
                records.append((cpu, time, pid, name, fields))
    text = [m["string_value"][0] for p in whole["packet"] for c in p.get("chrome_events", []) for m in c["metadata"]
            if m["name"][0] == "ledger"]
    if not text or "balanced" not in text[0] and "hits" not in text[0]:
        raise Wrong("no ledger in the Perfetto trace")
    if told != len(gaps):
        raise Wrong("%d bundles tell of lost events, %d events do" % (told, len(gaps)))
    return by_time(records), gaps


def track_events(path, proto):
    """Names of tracks by their numbers, and (track, type, name) of each event in the order of their times."""
    out, _ = output_of("protoc", "--decode=perfetto.protos.Trace", "-I", os.path.dirname(proto), proto, stdin=open(path, "rb"))
    tracks, events = {}, []
    for packet in parse_text_proto(iter(out.split("\n")))["packet"]:
        for track in packet.get("track_descriptor", []):
            tracks[track["uuid"][0]] = track["name"][0] if "name" in track else track["thread"][0]["thread_name"][0]
        for event in packet.get("track_event", []):
            if event["track_uuid"][0] not in tracks:
                raise Wrong("an event on a track that was not described: %s" % event)
            events.append((int(packet["timestamp"][0]), event["track_uuid"][0], event["type"][0][5:], event.get("name", [""])[0]))
    return tracks, [e[1:] for e in sorted(events, key=lambda e: e[0])]
