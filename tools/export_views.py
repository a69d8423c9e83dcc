"""Cases of tools/export-test: what `trapline diff` says of its files, and what `trapline plot` draws of them. Each returns what is wrong,
or None."""
import os, re, struct, subprocess


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
        raise SystemExit("export-test: trapline diff %s: exit status %d, not %d: %s" % (args, got.returncode, status, got.stderr))
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
    if len([l for l in lines if l.startswith("      - ")]) != 10:
        return "not 10 lines of what is only in A"
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


CASES = [diff_same, diff_found, diff_order, diff_losses, diff_latencies, diff_damaged]
