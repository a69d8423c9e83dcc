"""Transcripts: the file format, the normalisations, the comparison. Pure: no machine, no I/O but reading files.

A transcript is a list of cases; a case is a list of steps; a step is a command line and what it must print. See
tests/drive/console-test --help for the format and for what is normalised.
"""
import re
from dataclasses import dataclass, field


@dataclass
class Step:
    command: str
    # Expected output in order: (kind, text), kind '|' exact, '?' anything, '\\' exact without newline at the end.
    lines: list = field(default_factory=list)
    status: int = 0


@dataclass
class Case:
    name: str
    file: str
    line: int
    about: str = ""
    boot: str = ""
    initrd: str = ""
    smp: int = 1
    mem: str = ""
    timeout: int = 0
    console: str = ""
    unordered: list = field(default_factory=list)
    vary: list = field(default_factory=list)
    needs: list = field(default_factory=list)
    places: list = field(default_factory=list)  # tests/drive/places.py
    steps: list = field(default_factory=list)
    console_lines: list = field(default_factory=list)  # (kind, text)


class FormatError(Exception):
    pass


def _directive(case, word, rest):
    if word == "about":
        case.about = rest
    elif word == "boot":
        case.boot = rest
    elif word == "initrd":
        case.initrd = rest
    elif word == "smp":
        case.smp = int(rest)
    elif word == "mem":
        case.mem = rest
    elif word == "timeout":
        case.timeout = int(rest)
    elif word == "console":
        case.console = rest
    elif word == "unordered":
        case.unordered.append(re.compile(rest))
    elif word == "vary":
        case.vary.append(re.compile(rest))
    elif word == "places":
        case.places.append(rest)
    elif word == "needs":
        case.needs += rest.split()
    elif word not in ("note", "nondet"):
        raise FormatError("unknown directive @" + word)


def _line(cases, path, number, line):
    if line.startswith("@case "):
        cases.append(Case(line[6:].strip(), path, number))
        return
    if not cases or not line or line[0] == "#":
        return
    case = cases[-1]
    if line[0] == "@":
        word, _, rest = line[1:].partition(" ")
        _directive(case, word, rest)
    elif line.startswith("$ "):
        case.steps.append(Step(line[2:]))
    elif line.startswith("~? "):
        case.console_lines.append(("?", line[3:]))
    elif line.startswith("~ "):
        case.console_lines.append(("|", line[2:]))
    elif line[0] in "|?\\" and case.steps and line[1:2] in ("", " "):
        case.steps[-1].lines.append((line[0], line[2:]))
    elif line.startswith("= ") and case.steps:
        case.steps[-1].status = int(line[2:])
    else:
        raise FormatError("line not understood: " + line)


def parse(path):
    """The cases of a file. FormatError names the place."""
    cases = []
    with open(path, encoding="ascii") as f:
        for number, line in enumerate(f, 1):
            try:
                _line(cases, path, number, line.rstrip("\n"))
            except (FormatError, ValueError, re.error) as e:
                raise FormatError("%s:%d: %s" % (path, number, e)) from None
    return cases


def escape(data):
    """Bytes of a machine as a transcript writes them: a backslash before an x is \\x5c."""
    out = []
    for i, b in enumerate(data):
        if b == 9 or 0x20 <= b < 0x7F and not (b == 0x5C and data[i + 1:i + 2] == b"x"):
            out.append(chr(b))
        else:
            out.append("\\x%02x" % b)
    return "".join(out)


def output_lines(data):
    """Output of one command as (kind, text)."""
    parts = data.split(b"\n")
    lines = []
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if last and not part:
            break
        lines.append(("\\" if last else "|", escape(part)))
    return lines


# Each rule: what it is for (shown by --help), pattern, replacement.
RULES = [
    ("the task column, the need-resched flag and the time of a trace line",
     re.compile(r"^ *\S.{0,15}?-\d+ +(?:\( *[-\d]+\) +)?\[\d{3}\] (\S)\S(\S{3,}) +\d+(?:\.\d+)?: "),
     r"TASK [CPU] \1.\2 TIME: "),
    ("the same without the flags column",
     re.compile(r"^ *\S.{0,15}?-\d+ +(?:\( *[-\d]+\) +)?\[\d{3}\] +\d+(?:\.\d+)?: "), r"TASK [CPU] TIME: "),
    ("the same in latency format",
     re.compile(r"^ *\S.{0,15}?-\d+ +\d+(\S)\S(\S{3,}) +\d+us[ !+#*$@]?: "), r"TASK CPU\1.\2 TIME: "),
    ("ids in format files", re.compile(r"^ID: \d+$"), "ID: N"),
    ("the time in error_log", re.compile(r"^\[ *\d+\.\d+\]"), "[TIME]"),
    ("kernel addresses", re.compile(r"\b(0x)?ff(?!ffffffff)[0-9a-f]{14}\b"), r"\1KADDR"),
    ("stack addresses of ring 3", re.compile(r"\b(0x)?(?:0000)?7ff[0-9a-f]{9}\b"), r"\1UADDR"),
    ("the size part of a symbol", re.compile(r"(\w\+0x[0-9a-f]*)/0x[0-9a-f]+"), r"\1/0xSIZE"),
    ("where a return probe's caller made the call", re.compile(r"\((\w+)\+0x[0-9a-f]+/0xSIZE <- "),
     r"(\1+0xOFFSET/0xSIZE <- "),
    ("times in stats", re.compile(r"^(oldest event ts|now ts): +\d+(?:\.\d+)?$"), r"\1: TIME"),
    ("type, flags and pid of a user event's hex dump, and its text column",
     re.compile(r"^(.*?00000000: )(?:[0-9a-f]{2} ){8}((?:[0-9a-f]{2} ?)*).*$"), r"\1HEADER \2"),
]


def normalise(text):
    for _, rx, to in RULES:
        text = rx.sub(to, text)
    return text


_HIT = re.compile(r"^\{.*\} hitcount: +(\d+)")


def _sort_runs(lines, key):
    """Sorts each run of neighbours for which key() gives the same value that is not None."""
    out, i = [], 0
    while i < len(lines):
        k = key(lines[i])
        j = i + 1
        while k is not None and j < len(lines) and key(lines[j]) == k:
            j += 1
        out += sorted(lines[i:j]) if k is not None else lines[i:j]
        i = j
    return out


def has_free_entry(lines):
    """Is an entry of a histogram an example only? Then nobody knows where among its neighbours it would be sorted."""
    return any(kind == "?" and _HIT.match(text) for kind, text in lines)


def prepare(case, lines, sort_entries=True):
    lines = [(kind, text if kind == "?" else normalise(text)) for kind, text in lines]
    for rx in case.unordered:
        lines = _sort_runs(lines, lambda l, rx=rx: True if l[0] != "?" and rx.search(l[1]) else None)

    if not sort_entries:
        return lines

    def hits(line):
        m = _HIT.match(line[1])
        return m.group(1) if m and line[0] != "?" else None

    return _sort_runs(lines, hits)


def matches(expected, actual):
    """Do the lines agree? A run of '?' stands for any number of lines. Iterative, one wildcard behind is remembered."""
    e = a = 0
    back = None
    while a < len(actual):
        if e < len(expected) and expected[e][0] == "?":
            while e < len(expected) and expected[e][0] == "?":
                e += 1
            back = (e, a)
        elif e < len(expected) and expected[e] == actual[a]:
            e += 1
            a += 1
        elif back:
            e, a = back[0], back[1] + 1
            back = (e, a)
        else:
            return False
    while e < len(expected) and expected[e][0] == "?":
        e += 1
    return e == len(expected)


def step_agrees(case, step, data, status):
    """None, or what is wrong."""
    sort_entries = not has_free_entry(step.lines)
    expected = prepare(case, step.lines, sort_entries)
    actual = prepare(case, output_lines(data), sort_entries)
    if not matches(expected, actual):
        return "output differs"
    if (step.status == 0) != (status == 0):
        return "exit status %d, expected %d" % (status, step.status)
    return None
