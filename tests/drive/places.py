"""Places inside functions, which are elsewhere in each kernel: @places of a case says what is where in the recorded one."""
import functools
import re
import subprocess


@functools.lru_cache
def functions(kernel):
    """Name and address of the functions, by address."""
    nm = subprocess.run(["nm", "-n", kernel], check=True, capture_output=True, text=True).stdout
    return [(m[2], int(m[1], 16)) for m in re.finditer(r"^([0-9a-f]+) [tT] (\S+)$", nm, re.M)]


@functools.lru_cache
def boundaries(kernel, name):
    """Where the first instructions of a function begin behind its start."""
    at = dict(functions(kernel))[name]
    dump = subprocess.run(["objdump", "-d", "--start-address=%#x" % at, "--stop-address=%#x" % (at + 64), kernel], check=True,
                          capture_output=True, text=True).stdout
    return [int(a, 16) - at for a in re.findall(r"^([0-9a-f]+):\t[0-9a-f ]+\t", dump, re.M)]


def inside_next(kernel, name):
    """A place inside an instruction of the next function that begins as most do."""
    at = dict(functions(kernel))[name]
    for other, address in functions(kernel):
        if address > at and boundaries(kernel, other)[:3] == [0, 1, 4]:  # push, mov
            return address + 2 - at
    raise ValueError("no function behind " + name)


def here(kernel, name, begins, insides):
    """{offset in the recorded kernel: offset here}: of the second, third ... instruction, and of places inside instructions."""
    mine = boundaries(kernel, name)
    none = [n for n in range(max(mine)) if n not in mine]
    to = dict(zip(begins, mine[1:]))
    to.update(zip([n for n in insides if n < 64], none))
    to.update((n, inside_next(kernel, name)) for n in insides if n >= 64)
    return to


def translate(kernel, case):
    """Replaces the places in a case's commands and in what they print."""
    for text in case.places:
        name, _, rest = text.partition(" ")
        begins, _, insides = rest.partition("/")
        to = here(kernel, name, *([int(n, 0) for n in s.split()] for s in (begins, insides)))

        def put(m):
            n = int(m[2], 0)
            return m[1] + (m[2] if n not in to else hex(to[n]) if m[2].startswith("0x") else str(to[n]))

        def replaced(line):
            return re.sub(r"\b(%s\+)(0x[0-9a-f]+|\d+)\b" % name, put, line)

        for step in case.steps:
            step.command = replaced(step.command)
            step.lines = [(kind, replaced(line)) for kind, line in step.lines]
