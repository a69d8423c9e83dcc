"""Copies of the tree in which a bug is planted, and the cases that are to catch it: for mutants and mutants-mechanical.

A copy is $O/mutants/N, a repository of its own with its own build, which begins as a copy of $O. What is planted is built there by
make, which compiles the changed files only; taking it out again makes them newer than their objects, so that make compiles them anew.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A case is a word and its arguments: what is run then, and what it needs beside the files of $O that the command names.
KINDS = {
    "host": ("$O/host-test %s", ""),
    "unit": ("$O/trapline-unit %s", ""),
    "step": ("$O/ring-step %s", ""),
    "tsan": ("$O/ring-tsan %s", ""),
    "futex": ("$O/futex-test %s", ""),
    "ktest": ("tools/run-qemu --kernel $O/kernel-test.elf --ktap --timeout %(limit)d --append ktest=%(first)s %(rest)s", ""),
    "threads": ("tools/run-qemu --kernel $O/kernel-test.elf --ktap --multi --timeout %(limit)d --append 'ktest=%(first)s hosttime' %(rest)s", ""),
    "console": ("tests/drive/console-test --kernel $O/kernel.elf --skip tests/console/skip -j 1 -k '%(rest)s' tests/console/%(first)s.txt",
                "$O/test-programs.cpio"),
    "trapline": ("tests/drive/trapline-test --kernel $O/kernel.elf --trapline $O/trapline --program $O/args -k '%s'", "$O/races"),
    "check": ("tools/check %s", "$O/kernel.elf"),
    "run": ("%s", ""),
}

# How the runners say which case failed; the first of them to be found counts.
FAILED = [
    re.compile(r"^not ok (?:\d+ )?(?:- )?(\S+(?: [^#\n]{1,50})?)", re.M),
    re.compile(r"^\[  FAILED  \] ([a-z]\w*\.\S+)", re.M),
    re.compile(r"^(check: .{1,60})", re.M),
]
# Where nothing says so, the case that ran last.
BEGAN = [re.compile(r"^\[ RUN      \] (\S+)", re.M), re.compile(r"^# .*?([Pp]anic.{1,40}|trouble: .{1,40})", re.M)]


class Broken(Exception):
    """Something is wrong with the patch or its head, not with the tests."""


def expand(case, limit):
    """The command of a case, and what make has to make for it."""
    kind, _, arguments = case.partition(" ")
    if kind not in KINDS:
        raise Broken("no kind of case: " + kind)
    template, more = KINDS[kind]
    if "%(" in template:
        first, _, rest = arguments.strip().partition(" ")
        command = template % {"first": first, "rest": rest, "limit": limit}
    else:
        command = template % arguments.strip()
    return command, sorted({goal[3:] for goal in re.findall(r"\$O/[\w./-]+", command + " " + more)})


def tracked():
    """The files of the sources, as they lie in the working tree."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True, capture_output=True, text=True).stdout
    return [name for name in names.split("\n") if name and os.path.isfile(os.path.join(TOP, name))]


RUNNING = set()
FILE_LIMIT = 256 << 20
SHOWN = 4 << 20


def stop_all(*_):
    """Told to stop: nothing outlives the run."""
    for process in list(RUNNING):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(130)


def execute(command, where, limit):
    """Runs a command for the shell: its status, None after `limit` seconds, and the beginning and the end of what it printed.

    A bug may print without an end: a process that writes more than FILE_LIMIT bytes to one file is killed.
    """
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "ONLY", "LIMIT")}
    env["O"] = "build"
    if os.path.isdir("/usr/lib/ccache") and "/usr/lib/ccache" not in env["PATH"]:
        env["PATH"] = "/usr/lib/ccache:" + env["PATH"]
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(["bash", "-c", "ulimit -f %d; %s" % (FILE_LIMIT // 1024, command)], cwd=where, env=env, stdin=subprocess.DEVNULL,
                                   stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.add(process)
        late = threading.Event()
        timer = threading.Timer(limit, lambda: (late.set(), os.killpg(process.pid, signal.SIGKILL)))
        timer.start()
        process.wait()
        timer.cancel()
        RUNNING.discard(process)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left running
        text = ends_of(printed).decode(errors="replace").replace("\r", "")
    return None if late.is_set() else process.returncode, text


def ends_of(file):
    """Its first and its last SHOWN bytes, or all of it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    text = file.read(SHOWN)
    file.seek(max(len(text), size - SHOWN))
    return text + file.read()


def blame(status, text):
    """Which case failed, as well as the output says."""
    for rx in FAILED:
        m = rx.search(text)
        if m:
            return re.sub(r"\s+", " ", m.group(1)).strip()
    if status is None or status == 124:
        return "it hangs"
    for rx in BEGAN:
        m = rx.findall(text)
        if m:
            return m[-1]
    return "status %d" % status


class Tree:
    """One copy. `clean` remembers, for all copies, which cases pass where nothing is planted."""

    clean, lock = {}, threading.Lock()

    def __init__(self, build, number, limit):
        self.where = os.path.join(TOP, build, "mutants", str(number))
        self.limit, self.changed = limit, set()
        os.makedirs(self.where, exist_ok=True)
        self._copy_sources()
        if not os.path.isdir(os.path.join(self.where, "build")):
            self._copy_build(os.path.join(TOP, build))
        subprocess.run("git init -q . && git add -A", shell=True, cwd=self.where, check=True)

    def _copy_sources(self):
        wanted = set(tracked())
        for folder, folders, names in os.walk(self.where):
            if folder == self.where:
                folders[:] = [f for f in folders if f not in ("build", ".git")]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.where) not in wanted:
                    os.unlink(path)
        for name in wanted:
            source, copy = os.path.join(TOP, name), os.path.join(self.where, name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if not os.path.exists(copy):
                shutil.copy2(source, copy)
            elif not same_file(source, copy):
                shutil.copy(source, copy)  # newer than its objects

    def _copy_build(self, build):
        names = [name for name in os.listdir(build) if not re.match(r"mutants|test-logs|checked|spin|ubsan|.*\.img$|.*\.iso$", name)]
        to = os.path.join(self.where, "build")
        os.makedirs(to)
        if names:
            subprocess.run(["cp", "-a", "--reflink=auto", "-t", to, "--"] + [os.path.join(build, name) for name in names], check=True)

    def plant(self, diff):
        """Applies a diff: the files that it changes."""
        names = re.findall(r"^\+\+\+ b/(\S+)", diff, re.M)
        done = subprocess.run(["patch", "-p1", "-s", "-f", "-F0", "--no-backup-if-mismatch", "-r", "-"], cwd=self.where, input=diff.encode(), capture_output=True)
        self.changed.update(names)
        if done.returncode:
            self.restore()
            raise Broken("it does not apply: " + done.stdout.decode().strip())

    def restore(self):
        """Takes out what was planted: the files are as they were when the copy was made, whatever became of the tree since."""
        if self.changed:
            subprocess.run(["git", "checkout-index", "-f", "--"] + sorted(self.changed), cwd=self.where, check=True)
        self.changed.clear()

    def make(self, goals):
        """None, or what the compiler said. Its warnings do not count: a test is to catch the bug."""
        if not goals:
            return None
        command = "make -s -j2 DEPS= %s " + " ".join("build/" + goal for goal in goals)
        if execute(command % "", self.where, 1200)[0] == 0:
            return None
        status, text = execute(command % "WARN=-w", self.where, 1200)
        return None if status == 0 else text[-2000:]

    def run(self, case):
        """None if the case passes; else which case of it failed."""
        command, goals = expand(case, self.limit)
        trouble = self.make(goals)
        if trouble:
            raise Broken("it does not build: " + trouble)
        status, text = execute(command.replace("$O/", "build/"), self.where, self.limit + 30)
        return None if status == 0 else blame(status, text)

    def passes_clean(self, case):
        """Whether it passes where nothing is planted, and how many seconds it takes: what was planted is taken out for that."""
        if case not in Tree.clean:
            self.restore()
            began = time.monotonic()
            failed = self.run(case)
            with Tree.lock:
                Tree.clean[case] = failed, time.monotonic() - began
        return Tree.clean[case][0] is None


def same_file(one, other):
    with open(one, "rb") as a, open(other, "rb") as b:
        return a.read() == b.read()
