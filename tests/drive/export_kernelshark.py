#!/usr/bin/python3
"""Cases of tests/drive/export-test: KernelShark opens our files as they are. Its library reads the same events out of them; its window, on a
display of its own (Xvfb), shows them, and a picture of it is taken: kernelshark.png beside the files (make kernelshark-test).

By itself: tests/drive/export_kernelshark.py FILE prints what the library reads, a line of JSON for each event; in a process of its own, so
that whatever a library may do to it is seen as a failure."""
import colorsys, ctypes, json, os, re, shutil, struct, subprocess, sys, time, zlib

GIVE_UP = 180  # seconds, for any step


def as_nobody():
    """KernelShark asks before it runs as root, and there is nobody to answer."""
    return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.getuid() == 0 else []


# ---- the library -----------------------------------------------------------------------------------------------------------------


class Entry(ctypes.Structure):
    pass


Entry._fields_ = [("next", ctypes.POINTER(Entry)), ("visible", ctypes.c_uint16), ("stream", ctypes.c_int16), ("event", ctypes.c_int16),
                  ("cpu", ctypes.c_int16), ("pid", ctypes.c_int32), ("offset", ctypes.c_int64), ("ts", ctypes.c_int64)]
MISSED = -75  # the event of a gap (-EOVERFLOW): its offset is how many


def read(path):
    shark = ctypes.CDLL("libkshark.so.2")
    shark.kshark_load_entries.restype = ctypes.c_ssize_t
    text = {}
    for name in ("event_name", "task", "info"):
        text[name] = getattr(shark, "kshark_get_" + name)
        text[name].restype, text[name].argtypes = ctypes.c_void_p, [ctypes.POINTER(Entry)]
    context, rows = ctypes.c_void_p(), ctypes.POINTER(ctypes.POINTER(Entry))()
    if not shark.kshark_instance(ctypes.byref(context)):
        sys.exit("libkshark does not start")
    stream = shark.kshark_open(context, path.encode())
    if stream < 0:
        sys.exit("libkshark does not open it: %d" % stream)
    for i in range(shark.kshark_load_entries(context, stream, ctypes.byref(rows))):
        e = rows[i].contents
        # NULL: the event has nothing to say, as a system call without arguments.
        words = [ctypes.string_at(text[n](rows[i]) or b"").decode(errors="replace") for n in ("event_name", "task", "info")]
        print(json.dumps([e.cpu, e.pid, e.ts, e.event, e.offset] + words))


def same_events(guest, name, lines, lost):
    """Of a file: task, CPU, time to the nanosecond and event of each, as in the lines of the text form; gaps with their numbers."""
    got = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), guest.path(name)], capture_output=True, text=True, timeout=GIVE_UP)
    if got.returncode:
        return "%s: exit status %d: %s" % (name, got.returncode, got.stderr)
    rows = [json.loads(l) for l in got.stdout.split("\n") if l.startswith("[")]
    events = sorted((r[2], r[0], "%s-%d" % (r[6], r[1]), r[5].split("/")[-1]) for r in rows if r[3] != MISSED)
    want = sorted((l[2], l[1], l[0], l[3]) for l in lines)
    if events != want:
        wrong = next((p for p in zip(events, want) if p[0] != p[1]), (len(events), len(want)))
        return "%s: KernelShark: %s, we: %s" % (name, wrong[0], wrong[1])
    told = [sum(r[4] for r in rows if r[3] == MISSED and r[0] == cpu) for cpu in range(len(lost))]
    if told != lost:
        return "%s: KernelShark: %s missed, %s were overwritten" % (name, told, lost)
    if any(not r[7] for r in rows if r[5] == "sched/sched_switch"):
        return "%s: a switch without a text" % name
    return None


def kernelshark_events(guest):
    from export_views import lines_of
    overrun = [int(n) for n in re.findall(r"^overrun: (\d+)", open(guest.path("small.stats")).read(), re.M)]
    for name, lost in (("trace.dat", [0, 0]), ("snapshot.dat", [0, 0]), ("small.dat", overrun)):
        wrong = same_events(guest, name, lines_of(guest, guest.path(name)), lost)
        if wrong:
            return wrong
    return None


# ---- the window ------------------------------------------------------------------------------------------------------------------


class Screen:
    """What Xvfb shows: a file in the format of xwd, lines of 32-bit pixels, blue first."""

    def __init__(self, path):
        data = open(path, "rb").read()
        head = struct.unpack_from(">25I", data)
        size, self.width, self.height, stride, colours = head[0], head[4], head[5], head[12], head[19]
        start = size + colours * 12
        self.lines = [data[start + y * stride:start + y * stride + self.width * 4] for y in range(self.height)]

    def hues(self):
        """How many parts of the circle of colours there are, of twelve, without greys: 20 pixels or more of a colour."""
        count, hues = {}, set()
        for line in self.lines:
            for pixel in struct.unpack("<%dI" % self.width, line):
                count[pixel] = count.get(pixel, 0) + 1
        for pixel, n in count.items():
            r, g, b = pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255
            if n >= 20 and max(r, g, b) - min(r, g, b) > 64:
                hues.add(int(colorsys.rgb_to_hsv(r, g, b)[0] * 12))
        return len(hues)

    def write_png(self, path):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        rows = bytearray()
        for line in self.lines:
            row = bytearray(self.width * 3)
            row[0::3], row[1::3], row[2::3] = line[2::4], line[1::4], line[0::4]
            rows += b"\0" + row
        open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)) +
                               chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def until(what, process, get):
    """What `get` returns once that is something; an error if it never is, or if the process ends."""
    end = time.monotonic() + GIVE_UP
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError("KernelShark ended: %d" % process.returncode)
        got = get()
        if got:
            return got
        time.sleep(0.2)
    raise RuntimeError(what)


def display(directory, processes):
    """Starts an X server; its number."""
    ours, its = os.pipe()
    processes.append(subprocess.Popen(["Xvfb", "-displayfd", str(its), "-screen", "0", "1280x860x24", "-nolisten", "tcp", "-ac", "-fbdir", directory],
                                      pass_fds=[its], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    os.close(its)
    with os.fdopen(ours) as pipe:
        number = pipe.readline().strip()
    if not number:
        raise RuntimeError("Xvfb does not start")
    return ":" + number


def window(path, directory, processes):
    """KernelShark's window with a file, as large as the screen: what the screen shows then."""
    env = dict(os.environ, DISPLAY=display(directory, processes), HOME=directory, XDG_RUNTIME_DIR=directory, QT_QPA_PLATFORM="xcb")
    env.pop("XDG_CACHE_HOME", None)
    log = open(os.path.join(directory, "kernelshark.log"), "w")
    shark = subprocess.Popen(as_nobody() + ["kernelshark", path], env=env, stdout=log, stderr=log)
    processes.append(shark)

    def ask(*what):
        return subprocess.run(["xdotool"] + list(what), env=env, capture_output=True, text=True, timeout=GIVE_UP).stdout.strip()

    title = r"^Kernel Shark .*%s" % re.escape(os.path.basename(path))
    found = until("there is no window with the file's name", shark, lambda: ask("search", "--onlyvisible", "--name", title)).split("\n")[0]
    ask("windowsize", found, "1280", "860")
    ask("windowmove", found, "0", "0")

    def shown():  # tasks are there in their colours; Marker A alone is green
        time.sleep(1)
        screen = Screen(os.path.join(directory, "Xvfb_screen0"))
        return screen if screen.hues() >= 6 else None
    until("the window does not show the tasks", shark, shown)
    return until("the tasks are gone", shark, shown)  # once more: it is not drawn at once


def kernelshark_window(guest):
    directory = guest.path("shark")
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    shutil.copy(guest.path("trace.dat"), directory)
    if os.getuid() == 0:  # so that nobody can go there
        os.chmod(guest.where, 0o755)
        os.chown(directory, 65534, 65534)
    processes = []
    try:
        screen = window(os.path.join(directory, "trace.dat"), directory, processes)
        screen.write_png(guest.path("kernelshark.png"))
    except (RuntimeError, subprocess.TimeoutExpired, OSError) as e:
        return str(e)
    finally:
        for process in reversed(processes):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return None


CASES = [kernelshark_events, kernelshark_window]

if __name__ == "__main__":
    read(sys.argv[1])
