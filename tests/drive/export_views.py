"""Cases of tests/drive/export-test: what `trapline diff` says of its files, and what `trapline plot` draws of them. Each returns what is wrong,
or None."""
import json, os, pty, random, re, struct, subprocess
import xml.etree.ElementTree as ET

from export_forms import Wrong


def run(*cmd, **how):
    how.setdefault("timeout", 300)
    return subprocess.run(cmd, capture_output=True, text=True, errors="replace", **how)


class Dat:
    """A trace.dat file of a clean writer, taken apart: what stands before the pages, and each CPU's pages."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        at = self.data.index(b"flyrecord\0") + 10
        options = self.data.rindex(b"options  \0", 0, at) - 4
        self.cpus = struct.unpack_from("<I", self.data, options)[0]
        self.number_at, self.table_at = options, at
        table = [struct.unpack_from("<QQ", self.data, at + 16 * i) for i in range(self.cpus)]
        self.tail = self.data[at + 16 * self.cpus:table[0][0]].rstrip(b"\0") + b"\0" * 8
        self.pages = [[self.data[o + i:o + i + 4096] for i in range(0, size, 4096)] for o, size in table]

    def write(self, path, pages):
        """The same with other pages, for as many CPUs as there are lists of them."""
        head = self.data[:self.number_at] + struct.pack("<I", len(pages)) + self.data[self.number_at + 4:self.table_at]
        at = (len(head) + 16 * len(pages) + len(self.tail) + 4095) // 4096 * 4096
        table = body = b""
        for cpu in pages:
            table += struct.pack("<QQ", at + len(body), 4096 * len(cpu))
            body += b"".join(cpu)
        out = head + table + self.tail
        open(path, "wb").write(out + b"\0" * (at - len(out)) + body)
        return path


def later(page, ns):
    return struct.pack("<Q", struct.unpack_from("<Q", page)[0] + ns) + page[8:]


def compared(guest, status, *args):
    """The lines that `trapline diff` prints; wrong if the status is another one."""
    got = run(guest.trapline, "diff", *args)
    if got.returncode != status:
        raise Wrong("trapline diff %s: exit status %d, not %d: %s" % (args, got.returncode, status, got.stderr))
    return got.stdout.split("\n")


def diff_same(guest):
    """A file and itself, of any kind."""
    for name in ("trace.dat", "snapshot.dat", "small.dat", "none.dat"):
        first = compared(guest, 0, guest.path(name), guest.path(name))[0]
        if not re.search(r" are the same: \d+ events on 2 CPUs$", first):
            return "%s: %s" % (name, first)
    return None


def diff_found(guest):
    """Changed files: each kind of difference is found, alone, said in the first line and told where; and ignored if asked to."""
    dat, a = Dat(guest.path("trace.dat")), guest.path("trace.dat")
    b = guest.path("other.dat")
    later_all = [[later(p, 1500) for p in cpu] for cpu in dat.pages]
    dat.write(b, later_all)
    lines = compared(guest, 1, a, b)
    if not re.search(r" differ: times of \d+ events$", lines[0]) or not any("in B by +1.50 us to +1.50 us" in l for l in lines):
        return "times: " + lines[0]
    compared(guest, 0, "-t", a, b)
    texts = [cpu[:] for cpu in dat.pages]
    for cpu in texts:
        for i, page in enumerate(cpu):
            cpu[i] = page.replace(b"hello\n", b"jello\n")
    if texts == dat.pages:
        return "there is no hello in it"
    dat.write(b, texts)
    lines = compared(guest, 1, a, b)
    if not re.search(r" differ: values of 1 events$", lines[0]) or not any(re.match(r"  ftrace:print buf +1$", l) for l in lines):
        return "values: " + lines[0]
    compared(guest, 0, "-v", a, b)
    compared(guest, 0, "-e", "sched_*,kmem:*", a, b)
    compared(guest, 1, "-e", "sched_*,ftrace:pri?t", a, b)
    return None


def diff_order(guest):
    """Some pages gone at the end of a CPU: so many events less, as trace-cmd counts them; only that CPU's; with their counts."""
    dat, a, b = Dat(guest.path("trace.dat")), guest.path("trace.dat"), guest.path("other.dat")
    dat.write(b, [dat.pages[0], dat.pages[1][:-2]])
    events = [len(re.findall(r"^ .*\[001\]", run(guest.trapline, "convert", "--to", "text", p).stdout, re.M)) for p in (a, b)]
    lines = compared(guest, 1, "--ignore-time", a, b)
    want = "  CPU 1   %d events the same, %d only in A, 0 only in B" % (events[1], events[0] - events[1])
    if want not in lines or events[0] == events[1] or not re.search(r"differ: order of events on 1 of 2 CPUs; counts of \d+ of \d+ events$", lines[0]):
        return "%s: %s" % (want, lines[:8])
    less = sum(int(m[1]) for l in lines for m in [re.match(r"  \w+:\w+ .* -(\d+)$", l)] if m)
    if less != events[0] - events[1]:
        return "the counts come to %d less, not %d" % (less, events[0] - events[1])
    if len([l for l in lines if l.startswith("      - ")]) != min(10, events[0] - events[1]):
        return "not the first ten of what is only in A"
    lines = compared(guest, 1, "-n", "100000", a, b)
    if len([l for l in lines if l.startswith("      - ")]) != events[0] - events[1]:
        return "not all of what is only in A"
    return compared(guest, 1, "-q", a, b)[1:] != [""] and "--brief has more than a line" or None


def diff_losses(guest):
    """Overwritten and not: the number lost is the kernel's."""
    overrun = [int(n) for n in re.findall(r"^overrun: (\d+)", open(guest.path("small.stats")).read(), re.M)]
    lines = compared(guest, 1, guest.path("none.dat"), guest.path("small.dat"))
    if "lost events on %d CPUs" % sum(n > 0 for n in overrun) not in lines[0]:
        return lines[0]
    for cpu, n in enumerate(overrun):
        if n and not any(re.match(r"  CPU %d +0 +%d$" % (cpu, n), l) for l in lines):
            return "CPU %d: not %d" % (cpu, n)
    return None


def diff_latencies(guest):
    """Wakeup latencies: as many as the kernel found by itself (the synthetic event `lat`), as long as the lines of the text say."""
    text = run(guest.trapline, "convert", "--to", "text", guest.path("trace.dat")).stdout
    woken, want = {}, []
    for line in text.split("\n"):
        m = re.search(r" (\d+)\.(\d{9}): (sched_wakeup: .*? pid=|sched_switch: .*? next_pid=)(\d+)", line)
        if m and m[3].startswith("sched_wakeup"):
            woken.setdefault(m[4], int(m[1] + m[2]))
        elif m and m[4] in woken:
            want.append(int(m[1] + m[2]) - woken.pop(m[4]))
    lines = compared(guest, 1, "-e", "sched_wakeup,sched_switch", guest.path("trace.dat"), guest.path("none.dat"))
    m = next((m for l in lines for m in [re.match(r"  wakeup until it runs +A +(\d+) +(\S+) (\S+) +\S+ \S+ +(\S+) (\S+)$", l)] if m), None)
    if not m or int(m[1]) != len(want) or len(want) != len(re.findall(r": lat: ", text)):
        return "%d wakeups: %s" % (len(want), m and m[0])
    for what, number, unit in ((sorted(want)[(len(want) + 1) // 2 - 1], m[2], m[3]), (max(want), m[4], m[5])):
        if abs(float(number) * {"ns": 1, "us": 1000, "ms": 1000000}[unit] - what) > what * 0.006:
            return "%s %s is not %d ns" % (number, unit, what)
    return None


def calls_of(guest, path):
    """The page's function calls: {way of names from the task on: [calls, time, time in functions it called]}."""
    root, _ = plotted(guest, ".html", path)
    calls, ways = json.loads(next(e for e in root.iter() if e.get("id") == "data").text)["calls"], {}
    for caller in calls["callers"]:
        way = ["<idle>" if caller["name"].startswith("idle on ") else caller["name"].rsplit("-", 1)[0]]
        for depth, word, times, total in zip(*[iter(caller["tree"])] * 4):
            way[depth:] = [calls["names"][word]]
            one = ways.setdefault(tuple(way), [0, 0, 0])
            one[0] += times
            one[1] += total
            ways.get(tuple(way[:-1]), [0] * 3)[2] += total
    return ways


def diff_calls(guest):
    """A trace of function calls and the first part of it: each function's calls and own time, and where the trees part, are the pages' figures."""
    dat, a, b = Dat(guest.path("calls.dat")), guest.path("calls.dat"), guest.path("other.dat")
    dat.write(b, [cpu[:len(cpu) // 2] for cpu in dat.pages])
    ways, counts, own = [calls_of(guest, path) for path in (a, b)], {}, {}
    for side, tree in enumerate(ways):
        for way, (calls, total, inside) in tree.items():
            counts.setdefault(way[-1], [0, 0])[side] += calls
            own.setdefault(way[-1], [0, 0])[side] += total - inside
    lines = compared(guest, 1, "-n", "100000", a, b)
    body = "\n".join(lines)
    got = re.findall(r"^  (\S+) +(\d+) +(\d+) +([+-]\d+)$", body.split("\nfunction calls ")[1].split("\n\n")[0], re.M)
    if {name: [int(x), int(y)] for name, x, y, _ in got} != {name: n for name, n in counts.items() if n[0] != n[1]}:
        return "calls: %s" % got[:5]
    more = [abs(int(n)) for _, _, _, n in got]
    if len(more) < 10 or more != sorted(more, reverse=True):
        return "not the largest difference first: %s" % more[:9]
    parts = re.findall(r"^  \S+ +(\d+) +(\d+) +[+-]\d+\n    (.*)$", body.split("\nwhere the calls part ")[1].split("\n\n")[0], re.M)
    none = [0, 0, 0]
    want = {way: (ways[0].get(way, none)[0], ways[1].get(way, none)[0]) for way in set(ways[0]) | set(ways[1])}
    want = {way: n for way, n in want.items() if n[0] != n[1] and len({*want.get(way[:-1], (0, 0))}) < 2}
    if {tuple(way.split(" > ")): (int(x), int(y)) for x, y, way in parts} != want:
        return "where they part: %s" % parts[:5]
    times = re.findall(r"^  (\S+) +[\d.]+ \w+ +[\d.]+ \w+ +[+-]([\d.]+) (\w+) ", body.split("\nfunctions' own time ")[1].split("\n\n")[0], re.M)
    more = [abs(own[name][1] - own[name][0]) for name, _, _ in times]
    if {name for name, _, _ in times} != {n for n in own if own[n][0] != own[n][1]} or more != sorted(more, reverse=True):
        return "own times: %s" % times[:5]
    if not re.search(r"; calls of %d functions; own times of %d functions" % (len(got), len(times)), lines[0]):
        return lines[0]
    if any("function" in l for l in compared(guest, 0, a, a)) or "own time" in "\n".join(compared(guest, 1, "-t", a, b)):
        return "functions that do not differ, or times that are to be ignored"
    return None


def diff_damaged(guest):
    """Cut, corrupted, none at all: status 2, said where, and what is whole is compared."""
    data = open(guest.path("trace.dat"), "rb").read()
    bad = guest.path("bad.dat")
    for size in (40, 5000, len(data) - 4096 * 2 - 100):
        open(bad, "wb").write(data[:size])
        got = run(guest.trapline, "diff", guest.path("trace.dat"), bad)
        if got.returncode != 2 or not re.search(r"breaks off at|are missing", got.stderr) or "(damaged" not in got.stdout.split("\n")[0]:
            return "of %d bytes: %d %s %s" % (size, got.returncode, got.stderr, got.stdout.split("\n")[0])
    for args in ([], ["one"], ["a", "b", "c"], ["-n", "x", "a", "b"], ["-e", "", "a", "b"], ["--what", "a", "b"],
                 [guest.path("trace.dat"), guest.path("nosuch")], [guest.path("kallsyms"), guest.path("trace.dat")]):
        got = run(guest.trapline, "diff", *args)
        if got.returncode != 2 or got.stdout:
            return "%s: exit status %d" % (args, got.returncode)
    return None


SVG = "{http://www.w3.org/2000/svg}"


def plotted(guest, name, *args, status=0):
    """The picture of a file, as an element with all of it, and as text. It is XML, alone or in a page, and needs nothing from elsewhere: the
    only script is the page's own, which may load nothing."""
    out = guest.path("plot" + name)
    got = run(guest.trapline, "plot", *args, "-o", out)
    if got.returncode != status or (got.stderr and not status):
        raise Wrong("plot %s: exit status %d, not %d: %s" % (args, got.returncode, status, got.stderr))
    text = open(out, encoding="utf-8").read()
    try:
        root = ET.fromstring(text)
    except ET.ParseError as e:
        raise Wrong("plot %s: this is no XML: %s" % (args, e))
    scripts = [e for e in root.iter() if e.tag.endswith("script")]
    for e in root.iter():
        if any(k.split("}")[-1] in ("href", "src") or k.startswith("on") for k in e.attrib):
            raise Wrong("plot %s: it is not alone: %s %s" % (args, e.tag, e.attrib))
    if [e.get("type") for e in scripts] != ([] if name == ".svg" else ["application/json", None]):
        raise Wrong("plot %s: scripts: %s" % (args, [e.attrib for e in scripts]))
    ours = "".join(open("tools/trapline/plot/%s.js" % part).read() for part in ("calls", "page"))
    if scripts and (scripts[1].text.strip("/\n ") != ours.strip("/\n ") or "default-src 'none'" not in text):
        raise Wrong("plot %s: a script that is not ours, or one that may load something" % (args,))
    if re.search(r"https?://(?!www.w3.org/(2000/svg|1999/xhtml))|@import|url\((?!#lost)", text):
        raise Wrong("plot %s: it needs something from elsewhere" % (args,))
    return root, text


def data_of(root):
    """The data of a page's timeline; its tracks as lists of (begin, end, id, how many), from the first event on."""
    data = json.loads(next(e for e in root.iter() if e.get("id") == "data").text)

    def unpacked(track):
        items, at, i = [], 0, 0
        while i < len(track):
            at += track[i]
            items.append((at, at + track[i + 1], track[i + 2], track[i + 3]))
            i += 4 + (track[i + 3] > 1)
        return items
    for row in data["cpus"] + data["tasks"]:
        for key, value in row.items():
            if isinstance(value, list):
                row[key] = [unpacked(t) for t in value] if key in ("irq", "bars") else unpacked(value)
    return data


def words_of(svg):
    return [" ".join("".join(e.itertext()).split()) for e in svg.iter(SVG + "text")]


def lane(svg, name):
    return next(g for g in svg.iter(SVG + "g") if name in words_of(g))


def lines_of(guest, path):
    """Lines of the text form: task, cpu, time in ns, event, rest."""
    out = run(guest.trapline, "convert", "--to", "text", path).stdout
    return [(m[1], int(m[2]), int(m[3] + m[4]), m[5], m[6])
            for m in re.finditer(r"^ *(.*-\d+) +\[(\d+)\] \S{5} +(\d+)\.(\d{9}): (\w+):(.*)$", out, re.M)]


def plot_drawn(guest):
    """Every file as an SVG and as a page: the number of events, a lane for each CPU that has some, the ledger."""
    for name in ("trace.dat", "snapshot.dat", "small.dat", "none.dat"):
        lines = lines_of(guest, guest.path(name))
        cpus = {l[1] for l in lines}
        for form in (".svg", ".html"):
            svg, text = plotted(guest, form, guest.path(name))
            words = words_of(svg)
            if not any(w.startswith("%d events on 2 CPUs" % len(lines)) for w in words):
                return "%s: not %d events: %s" % (name, len(lines), words[:3])
            if {int(w[4:]) for w in words if re.match(r"CPU \d+$", w)} != cpus:
                return "%s: lanes are not those of CPUs %s" % (name, cpus)
            if "balanced" not in text:
                return "%s%s: no ledger" % (name, form)
        if (len(cpus) < 2) != any("No events on CPU" in w for w in words):
            return "%s: which CPUs have no events?" % name
    return None


def plot_tasks(guest):
    """How long each task ran, added up from the lines of sched_switch."""
    lines = lines_of(guest, guest.path("trace.dat"))
    first, last = lines[0][2], lines[-1][2]
    ran, since, now = {}, {}, {}
    for task, cpu, time, event, rest in lines:
        if event == "sched_switch":
            pid = re.search(r" prev_pid=(\d+)", rest)[1]
            ran[pid] = ran.get(pid, 0) + time - since.get(cpu, first)
            since[cpu], now[cpu] = time, re.search(r" next_pid=(\d+)", rest)[1]
    for cpu in now:  # whoever came last runs to the end
        ran[now[cpu]] = ran.get(now[cpu], 0) + last - since[cpu]
    _, text = plotted(guest, ".html", guest.path("trace.dat"))
    table = text[text.index("<h2>Tasks</h2>"):]
    rows = re.findall(r"<tr><td>[^<]*-(\d+)</td><td>([\d.]+) (\w?s|\u00b5s)</td>", table[:table.index("</table>")])
    if len(rows) < 10:
        return "only %d tasks" % len(rows)
    for pid, number, unit in rows:
        ns = float(number) * {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9}[unit]
        if pid != "0" and abs(ns - ran[pid]) > 1 + ran[pid] * 0.006:
            return "task %s ran %s %s, not %d ns" % (pid, number, unit, ran[pid])
    return None


def plot_gaps(guest):
    """What was overwritten is told in the lane of its CPU, hatched and with its number."""
    overrun = [int(n) for n in re.findall(r"^overrun: (\d+)", open(guest.path("small.stats")).read(), re.M)]
    svg, _ = plotted(guest, ".svg", guest.path("small.dat"))
    for cpu, n in enumerate(overrun):
        gaps = [e for e in lane(svg, "CPU %d" % cpu).iter(SVG + "rect") if e.get("class") == "lost"]
        told = sum(int(e.find(SVG + "title").text.split()[0]) for e in gaps)
        if told != n or (n and not any(re.match(r"%d( lost)?$" % n, w) for w in words_of(lane(svg, "CPU %d" % cpu)))):
            return "CPU %d: %d lost, %d told" % (cpu, n, told)
    if not any(" %d lost" % sum(overrun) in w for w in words_of(svg)):
        return "the heading does not say how many"
    return None if sum(overrun) else "nothing was overwritten"


def plot_marks(guest):
    """What was written to trace_marker is in its task's lane, by name; a begin and its end are a bar, and no marks."""
    svg, _ = plotted(guest, ".svg", guest.path("trace.dat"))
    lines = [l for l in lines_of(guest, guest.path("trace.dat")) if l[3] == "print"]
    task = lines[0][0].rsplit("-", 1)
    here = lane(svg, " ".join(task))
    titles = [e.find(SVG + "title").text for e in here.iter(SVG + "path") if e.get("class") == "mark"]
    if [t.split("\n")[0] for t in titles] != ["first", "hello"]:
        return "marks: %s" % titles
    if "first" not in words_of(here):
        return "no label: %s" % words_of(here)
    bars = [e.find(SVG + "title").text for e in here.iter(SVG + "rect") if e.get("class") == "marked"]
    return None if len(bars) == 1 and bars[0].startswith("step in ") else "bars: %s" % bars


def plot_page(guest):
    """The data of the page says what the lines of the text say: who ran where and when, system calls, interrupts, marks, to the nanosecond."""
    lines = lines_of(guest, guest.path("trace.dat"))
    root, _ = plotted(guest, ".html", guest.path("trace.dat"))
    data, first = data_of(root), lines[0][2]
    if int(data["base"]) != first or data["range"] != lines[-1][2] - first or data["resolution"]:
        return "it goes from %s on for %s, %s" % (data["base"], data["range"], data["resolution"])
    tasks = {t["pid"]: t for t in data["tasks"]}
    ran = {int(pid) for l in lines if l[3] == "sched_switch" for pid in re.findall(r"(?:prev|next)_pid=(\d+)", l[4])} - {0}
    if not ran <= set(tasks) or len(tasks) < 12:
        return "lanes of %s, not of %s" % (sorted(tasks), sorted(ran))
    for cpu in data["cpus"]:
        ends = [l[2] - first for l in lines if l[3] == "sched_switch" and l[1] == cpu["cpu"] and " prev_pid=0 " not in l[4]]
        got = [end for begin, end, _, _ in cpu["run"]]
        if got[:len(ends)] != ends:
            return "CPU %d: tasks end at %s, not %s" % (cpu["cpu"], got[:5], ends[:5])
    calls, named = {}, {}
    for task, cpu, time, event, text in lines:
        pid = int(task.rsplit("-", 1)[1])
        if event.startswith("sys_enter_"):
            calls.setdefault(pid, []).append((time - first, event[10:]))
            named[pid] = True
        elif event == "sys_enter" and not named.pop(pid, False):  # a call that is missing has no event of its own
            calls.setdefault(pid, []).append((time - first, "system call %d" % int(re.search(r"id=(\d+)", text)[1])))
    for pid, want in calls.items():
        got = [(begin, data["names"][name]) for begin, end, name, _ in tasks[pid]["call"]]
        if not set(got) <= set(want) or len(got) < len(want) - 1:
            return "calls of %d: %s, not %s" % (pid, got[:5], want[:5])
    timers = sum(l[3] == "local_timer_entry" for l in lines)
    got = sum(data["names"][i[2]] == "local_timer" for cpu in data["cpus"] for depth in cpu["irq"] for i in depth)
    if not timers - 2 <= got <= timers:
        return "%d timer interrupts of %d" % (got, timers)
    prints = {l[4].split("buf=")[1].replace("\\n", "").strip('" '): (l[2] - first, int(l[0].rsplit("-", 1)[1])) for l in lines if l[3] == "print"}
    task = tasks[prints["hello"][1]]
    marks = [(begin, data["labels"][label]) for begin, _, label, _ in task["marks"]]
    bars = [[(begin, end, data["labels"][label]) for begin, end, label, _ in depth] for depth in task["bars"]]
    if marks != [(prints["first"][0], "first"), (prints["hello"][0], "hello")]:
        return "marks: %s" % marks
    if bars != [[(prints["begin step"][0], prints["end step"][0], "step")]]:
        return "bars: %s" % bars
    waits = sum(len(t["wait"]) for t in data["tasks"])
    return None if waits > 10 else "only %d waits for a CPU" % waits


def ways_of_lines(guest):
    """What `trace` says of function calls: {(task, function, function in it ...): [calls, ns]}, of ways whose calls have all returned."""
    ways, open_calls, around = {}, set(), {}
    for line in open(guest.path("calls.txt")):
        m = re.match(r" \d+\) +(\S+-\d+) +\| ..(?: *([\d.]+) us +| +)\|  ( *)([\w.]*)(.*)$", line)
        if not m or m[1].endswith("-0"):
            continue
        way = around.setdefault(m[1], [m[1]])
        del way[(1 if m[4] else 2) + len(m[3]) // 2:]
        if m[4]:
            way.append(m[4])
        key = tuple(way)
        if m[2]:
            one = ways.setdefault(key, [0, 0])
            one[0] += 1
            one[1] += round(float(m[2]) * 1000)
            open_calls.discard(key)
        else:
            open_calls.add(key)
    return {key: one for key, one in ways.items() if not any(key[:i] in open_calls for i in range(2, len(key) + 1))}


def plot_calls(guest):
    """Flame graphs: the page has each way of calls as often, and as long, as `trace` says; in the drawing it stands on, or hangs from, its caller."""
    want, got = ways_of_lines(guest), {}
    root, text = plotted(guest, ".html", guest.path("calls.dat"))
    calls = json.loads(next(e for e in root.iter() if e.get("id") == "data").text)["calls"]
    for caller in calls["callers"]:
        way, own = [caller["name"]], caller["total"]
        for depth, word, times, total in zip(*[iter(caller["tree"])] * 4):
            way[depth:] = [calls["names"][word]]
            got[tuple(way)] = [times, total]
            own -= total if depth == 1 else 0
        if own:
            return "%s: its functions take %d ns less than all of it" % (caller["name"], own)
    if len(want) < 60 or max(map(len, want)) < 5:
        return "only %d ways" % len(want)
    for way, (times, total) in want.items():
        times2, total2 = got.get(way, (0, 0))
        if times != times2 or abs(total - total2) > 10 * times:  # of 10396.239 us `trace` shows 10396.23
            return "%s: %d calls in %d ns, not %d in %d ns" % (way, times2, total2, times, total)
    table = text[text.index("<h2>Functions</h2>"):]
    row = re.search(r"<tr><td>sys_fd_get</td><td>(\d+)</td>", table[:table.index("</table>")])
    if not row or int(row[1]) != sum(one[0] for way, one in got.items() if way[-1] == "sys_fd_get"):
        return "the table has not all calls of sys_fd_get"
    for args, up in (((), True), (("--icicle",), False)):
        svg, _ = plotted(guest, ".svg", *args, guest.path("calls.dat"))
        flames = [g for g in svg.iter(SVG + "g") if g.get("class") == "flame"]
        if len(flames) != len(calls["callers"]):
            return "%d flames of %d callers" % (len(flames), len(calls["callers"]))
        for flame in flames:
            frames = [[float(e.get(k)) for k in ("x", "width", "y")] for e in flame.iter(SVG + "rect")]
            for x, width, y in frames[1:]:
                below = [f for f in frames if f[2] == y + (17 if up else -17) and f[0] <= x + .11 and x + width <= f[0] + f[1] + .2]
                if len(below) != 1:
                    return "%s: a frame at %s stands on %d others" % (args, (x, y), len(below))
    return "calls" in data_of(plotted(guest, ".html", guest.path("trace.dat"))[0]) and "calls where none were recorded" or None


def plot_ledger(guest):
    """The ledger has rows and columns that are not all zeros, what they mean, and in a part of the trace no other events' rows."""
    lines = lines_of(guest, guest.path("trace.dat"))
    begin, end = lines[1000][2], lines[1400][2]
    drawn = {l[3] for l in lines if begin <= l[2] <= end}
    for args, want in ((), {l[3] for l in lines}), (("-b", "%.9f" % (begin / 1e9), "-e", "%.9f" % (end / 1e9)), drawn):
        root, text = plotted(guest, ".html", *args, guest.path("trace.dat"))
        ledger = text[text.index("<section class='ledger'>"):]
        ledger = ledger[:ledger.index("</section>")]
        got = {m for m in re.findall(r"<td>\w+:(\w+)</td>", ledger)}
        if not want <= got or (args and got - want):
            return "%s: rows of %s more, %s less" % (args, got - want, want - got)
        for table in re.findall(r"<table>.*?</table>", ledger, re.S):
            rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr><td>.*?</tr>", table)]
            if any(set(row[1:]) == {"0"} for row in rows) or any({row[i] for row in rows} == {"0"} for i in range(1, len(rows[0]))):
                return "zeros are not left out: %s" % table
        heads = set(re.findall(r"<th>(\w+)</th>", ledger))
        if heads != set(re.findall(r"<dt>(\w+)</dt>", ledger)):
            return "what do they mean: %s" % heads
    return None


def plot_refused(guest):
    """A span outside the trace, and a terminal as output: refused with the reason, and nothing is written."""
    lines = lines_of(guest, guest.path("trace.dat"))
    out, dat = guest.path("outside.html"), guest.path("trace.dat")
    for args in (["-b", "%.9f" % ((lines[-1][2] + 1) / 1e9)], ["-e", "%.9f" % ((lines[0][2] - 1000) / 1e9)], ["-b", "9999"]):
        got = run(guest.trapline, "plot", *args, "-o", out, dat)
        if got.returncode != 2 or os.path.exists(out) or "outside the trace, which goes from %d.%09d to" % divmod(lines[0][2], 10**9) not in got.stderr:
            return "%s: exit status %d: %s" % (args, got.returncode, got.stderr)
    plotted(guest, ".svg", "-e", "%.9f" % ((lines[0][2] + 1000) / 1e9), dat)
    for args in ([], ["--svg"], ["-o", "-"]):
        master, slave = pty.openpty()
        got = subprocess.run([guest.trapline, "plot", *args, dat], stdout=slave, stderr=subprocess.PIPE, text=True, timeout=300)
        os.close(slave)
        os.set_blocking(master, False)
        try:
            written = os.read(master, 100)
        except OSError:
            written = b""
        os.close(master)
        if got.returncode != 2 or written or "terminal" not in got.stderr:
            return "%s to a terminal: exit status %d, %r: %s" % (args, got.returncode, written, got.stderr)
    return None


def plot_names(guest):
    """Names are text, whatever stands in them: of tasks, events, files, the machine, the ledger."""
    data = open(guest.path("trace.dat"), "rb").read()
    bad = guest.path("<b>&'\".dat")
    for old, new in ((b"kprobe-opt\n", b"<script>&\"\n"), (b" mkdir\n", b" <b>'&\n"), (b"hello\n", b"</svg\n"), (b"name: kmalloc\n", b"name: <u>&'\"]\n"),
                     (b"balanced", b"<balanc>"), (b"Trapline ", b"<img>\x1b&\xff ")):
        if old not in data or len(old) != len(new):
            return "no %s in the file" % old
        data = data.replace(old, new)
    open(bad, "wb").write(data)
    for form in (".svg", ".html"):
        svg, text = plotted(guest, form, bad)
        if not any(w.startswith("<img>\u241b&\ufffd ") or "<img>\u241b&\ufffd " in w for w in words_of(svg)):
            return "what the machine is called: %s" % words_of(svg)[:3]
        if "<b>'&" not in " ".join(words_of(svg)) or "&#60;script&#62;&#38;&#34;" not in text or "&#60;/svg" not in text or "&#60;balanc&#62;" not in text:
            return "%s: names are missing" % form
        if form == ".html" and "kmem:&#60;u&#62;&#38;&#39;&#34;]" not in text:
            return "the event is missing"
    os.unlink(bad)
    return None


def plot_part(guest):
    """From one time to another: so many events, and no others."""
    lines = lines_of(guest, guest.path("trace.dat"))
    begin, end = lines[1000][2], lines[2000][2]
    want = sum(begin <= l[2] <= end for l in lines)
    svg, _ = plotted(guest, ".svg", "-b", "%.9f" % (begin / 1e9), "-e", "%.9f" % (end / 1e9), guest.path("trace.dat"))
    return None if any(w.startswith("%d events " % want) for w in words_of(svg)) else "not %d: %s" % (want, words_of(svg)[:2])


def plot_large(guest):
    """Three million events on 16 CPUs: the page is no larger than a browser takes at once, and says what it puts together."""
    dat, big = Dat(guest.path("trace.dat")), guest.path("big.dat")
    events = len(lines_of(guest, guest.path("trace.dat")))
    times = 3000000 // (events * 8) + 1
    dat.write(big, [[later(p, k * 60000000) for k in range(times) for p in dat.pages[cpu % 2]] for cpu in range(16)])
    svg, text = plotted(guest, ".html", big)
    os.unlink(big)
    if not any(w.startswith("%d events on 16 CPUs" % (events * 8 * times)) for w in words_of(svg)):
        return words_of(svg)[1]
    data = data_of(svg)
    if len(text) > 6000000 or not data["resolution"] or "put together" not in text:
        return "the page has %d bytes, and puts together what is shorter than %d" % (len(text), data["resolution"])
    tracks = [t for cpu in data["cpus"] for t in [cpu["run"]] + cpu["irq"]] + [t[kind] for t in data["tasks"] for kind in ("run", "wait", "call")]
    short = [i for t in tracks for i in t if i[3] == 1 and i[1] - i[0] < data["resolution"]]
    many = sum(i[3] for t in tracks for i in t if i[3] > 1)
    return None if many > len(short) else "%d are put together, %d short ones are not" % (many, len(short))


def plot_damaged(guest):
    """A file that breaks off: status 1, said in the picture, too; what is whole is drawn. Refused: nothing is written."""
    data, cut = open(guest.path("trace.dat"), "rb").read(), guest.path("cut.dat")
    for size in (40, 5000, len(data) - 4096 * 2 - 100):
        open(cut, "wb").write(data[:size])
        svg, _ = plotted(guest, ".html", cut, status=1)
        if not any("damaged" in w for w in words_of(svg)):
            return "of %d bytes: the picture does not say so" % size
    if len(list(svg.iter(SVG + "rect"))) < 20:
        return "what is whole is not drawn"
    out = guest.path("refused.svg")
    for status, args in ((2, []), (2, ["a", "b"]), (2, ["-b", "x", "a"]), (2, ["-b", "2", "-e", "1", guest.path("trace.dat")]),
                         (3, [guest.path("nosuch")]), (3, [guest.path("kallsyms")])):
        got = run(guest.trapline, "plot", "-o", out, *args)
        if got.returncode != status or os.path.exists(out):
            return "%s: exit status %d, not %d" % (args, got.returncode, status)
    return None


def documented(guest):
    """What docs/export.md tells to type for each viewer, as it stands there; not what waits for a person: their windows have cases of their own."""
    where = guest.path("documented")
    os.makedirs(where, exist_ok=True)
    section = open("docs/export.md").read().split("## Each viewer, from boot to picture\n")[1].split("\n## ")[0]
    typed = re.findall(r"^    \$ (.*)$", section, re.M)
    env = dict(os.environ, PATH="%s:%s" % (os.path.dirname(guest.trapline), os.environ["PATH"]), TRAPLINE_KERNEL=os.path.abspath(guest.kernel))
    printed = 0
    for line in typed:
        if re.match(r"export PATH|kernelshark |xdg-open ", line):
            continue
        got = subprocess.run(["bash", "-c", line], cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        if got.returncode or b"rror" in got.stderr:
            return "%s: exit status %d: %s" % (line, got.returncode, got.stderr[-300:])
        printed += b"sched_switch" in got.stdout
    left = set(os.listdir(where))
    if printed != 4 or left != {"trace.dat", "trace.pftrace", "trace.json", "trace.ctf", "trace.html"}:
        return "%d print events; it leaves %s" % (printed, sorted(left))
    return None


def explained(guest, status, *args):
    """The lines that `trapline explain` prints, of its messages if it fails."""
    got = run(guest.trapline, "explain", *args)
    if got.returncode != status:
        raise Wrong("trapline explain %s: exit status %d, not %d: %s" % (args, got.returncode, status, got.stderr))
    return (got.stderr if status else got.stdout).rstrip("\n").split("\n")


def milliseconds(lines, pattern):
    return [int(m[1] + m[2]) * (-1 if m[0].lstrip().startswith("-") else 1) for l in lines for m in [re.match(pattern, l)] if m]


def explain_sums(guest):
    """Of any task and any span: at most 40 lines, whose parts add up to it, as those in JSON do; the first line has the largest part."""
    path, r = guest.path("trace.dat"), random.Random(1)
    lines = lines_of(guest, path)
    tasks = sorted({l[0].rsplit("-", 1)[1] for l in lines} - {"0"})
    for i in range(24):
        begin, end = sorted(r.sample(range(lines[0][2], lines[-1][2]), 2)) if i else (lines[0][2], lines[-1][2])
        args = (["-t", tasks[i % len(tasks)]] if i else []) + ["--span", "%.9f..%.9f" % (begin / 1e9, end / 1e9)] * (i > 0)
        out = explained(guest, 0, *args, path)
        whole = json.loads("\n".join(explained(guest, 0, "-j", *args, path)))
        parts = whole["parts"]
        if sum(p["time"] for p in parts) != whole["span"] or whole["span"] != end - begin:
            return "%s: parts of %d ns, a span of %d" % (args, sum(p["time"] for p in parts), end - begin)
        blank = [k for k, l in enumerate(out) if not l]
        for table in (out[blank[0]:blank[1]], out[blank[1]:-1] if out[-1].endswith("the span") else out[blank[1]:-2]):
            if sum(milliseconds(table, r" *(\d+)\.(\d{6}) ms")) != whole["span"]:
                return "%s: %s" % (args, table)
        first = re.search(r" \d+  (.*)$", out[blank[1] + 1])[1]
        if len(out) > 40 or not out[0].endswith(": " + first) or ("of %s of " % args and "-%d, from" % whole["task"]["pid"] not in out[0]):
            return "%d lines: %s" % (len(out), out[0])
    return None


def explain_sleep(guest):
    """The shell of the session sleeps for 50 ms: `sleep` did, and the shell waited for it."""
    lines = lines_of(guest, guest.path("trace.dat"))
    pid = next(l[0].rsplit("-", 1)[1] for l in lines if l[3] == "print")
    first = explained(guest, 0, "-t", pid, guest.path("trace.dat"))[0]
    if not re.search(r": sleep-\d+ slept in clock_nanosleep until local_timer while \w+-%s waited for it in wait4$" % pid, first):
        return first
    took = re.search(r", ([\d.]+) ms \(", first)
    return None if took and 45 < float(took[1]) < 60 else first


def explain_two(guest):
    """Of two traces: the differences of the parts add up to that of the whole."""
    dat, a, b = Dat(guest.path("trace.dat")), guest.path("trace.dat"), guest.path("other.dat")
    dat.write(b, [cpu[:len(cpu) * 2 // 3] for cpu in dat.pages])
    for x, y in ((a, b), (b, a)):
        out = explained(guest, 0, x, y)
        parts = milliseconds(out, r" *[+-](\d+)\.(\d{6}) ms")
        if sum(parts[:-1]) != parts[-1] or len(out) > 40 or not out[0].startswith("%s takes " % y) or (" more than " in out[0]) != (parts[-1] > 0):
            return "%s: %s" % (out[0], parts)
        if max(map(abs, parts[:-1])) < abs(parts[-1]) / 20 or [abs(n) for n in parts[:24]] != sorted((abs(n) for n in parts[:24]), reverse=True):
            return "the largest are not first: %s" % parts
    return None


def explain_refused(guest):
    """Lost events, events that are not there, a damaged file: refused, with the reason and what would do; usage is usage."""
    out = explained(guest, 1, guest.path("small.dat"))
    span = re.search(r"nothing is lost in --span (\d+)\.(\d+)\.\.(\d+)\.(\d+)$", out[-1])
    if "refused: of the span" not in out[0] or not span:
        return "lost events: %s" % out
    explained(guest, 0, "--span", "%s.%s..%s.%s" % span.groups(), guest.path("small.dat"))
    explained(guest, 1, "--span", "..%s.%s" % span.group(3, 4), guest.path("small.dat"))
    for name, want in (("calls.dat", "sched:sched_switch is not in the trace; record -e sched"), ("none.dat", "sched:sched_switch is not in the trace")):
        if want not in explained(guest, 1, guest.path(name))[0]:
            return "%s: refused for another reason" % name
    cut = guest.path("cut.dat")
    open(cut, "wb").write(open(guest.path("trace.dat"), "rb").read()[:-5000])
    if "refused: the file is damaged" not in explained(guest, 1, cut)[-1]:
        return "a damaged file"
    if "no task nobody" not in explained(guest, 1, "-t", "nobody", guest.path("trace.dat"))[0]:
        return "a task that is not there"
    for args in ([], ["--span", "1", "x"], ["--span", "..", "x"], ["--span", "9998..9999", guest.path("trace.dat")], ["--span", "1..2", "x", "y"],
                 ["x", "y", "z"]):
        explained(guest, 2, *args)
    explained(guest, 3, guest.path("nosuch"))
    return None


CASES = [explain_sums, explain_sleep, explain_two, explain_refused, diff_same, diff_found, diff_order, diff_losses, diff_latencies, diff_calls, diff_damaged, plot_drawn, plot_tasks, plot_gaps, plot_marks,
         plot_page, plot_calls, plot_ledger, plot_refused, plot_names, plot_part, plot_damaged, documented]
