"""Keeps a process from the files, processes and signals of the grader, by Landlock.

It takes no rights, works in containers and inside of other isolation, and what the process
starts is confined as well. Processes outside of it cannot be read through /proc or traced.
"""

import ctypes
import glob
import os
import struct
import sys
import tempfile

CONFINED = "confined"  # names what programs can read of the workspace, a line each; without it they are not confined

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the numbers of all architectures
NO_NEW_PRIVS = 38

EXECUTE, WRITE, READ, LIST, TRUNCATE, IOCTL = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE | READ | TRUNCATE | IOCTL
LOOK = EXECUTE | READ | LIST

# The directories of / that are never readable as a whole: other processes keep files there.
PRIVATE = {"dev", "home", "root", "run", "tmp", "var"}
SYSTEM = {"bin", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin", "sys", "usr"}
DEVICES = ["null", "zero", "full", "random", "urandom", "nvidia*", "dri", "kfd"]


def confine(own, readable, private):
    """Confines this process: it can write below own, and read the system, its Python, and
    readable, but of what is below private only these. All are lists of paths. Returns why it
    cannot be confined, or None."""
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no Landlock"
    libc = ctypes.CDLL(None, use_errno=True)

    def syscall(number, *args):
        result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    try:
        version = syscall(CREATE_RULESET, None, 0, 1)
        handled = (1 << 13) - 1
        handled |= (1 << 13 if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0) | (IOCTL if version >= 5 else 0)
        scoped = 3 if version >= 6 else 0  # abstract sockets and signals
        attributes = struct.pack("=QQQ", handled, 0, scoped)[:24 if version >= 6 else 8]
        ruleset = syscall(CREATE_RULESET, attributes, len(attributes), 0)

        def allow(path, rights):
            if any(holds(path, p) for p in private):
                return
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                return
            rights &= handled if os.path.isdir(path) else handled & ON_FILES
            syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, fd), 0)
            os.close(fd)

        for path in system(private):
            allow(path, LOOK)
        for path in readable:
            allow(path, LOOK)
        for pattern in DEVICES:
            for path in glob.glob("/dev/" + pattern):
                allow(path, READ | LIST | WRITE | IOCTL)
        for path in own:
            allow(path, handled)
        libc.capset(struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", *[0] * 6))  # root reads more of /proc with some
        if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no_new_privs")
        syscall(RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)
    except (OSError, AttributeError) as e:
        return f"Landlock, which takes Linux 5.13: {e}"
    return None


def confine_program(here):
    """Confines a program of the submission, as its modules are: it can also read and write a
    temporary directory and, outside of the workspace, its working directory. If it cannot be
    confined, it is not started."""
    workspace, cwd = os.path.dirname(here), os.getcwd()
    temp = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="program-")
    with open(os.path.join(here, CONFINED)) as f:
        readable = [os.path.join(workspace, name) for name in f.read().splitlines()]
    sys.path[:] = [p for p in sys.path if p]
    why = confine([temp] + ([] if holds(workspace, cwd) else [cwd]), [os.path.join(here, "submission"), *readable], [workspace, os.path.expanduser("~")])
    if why is not None:
        with open(os.path.join(here, "unusable"), "w") as f:
            f.write(why)
        sys.exit(f"a program of the submission could not be confined: {why}")


def holds(directory, path):
    """Reports whether a path is a directory or below it, by the directories themselves: isolation
    can mount one in several places, such as TMPDIR also as /tmp."""
    path = os.path.realpath(path)
    while True:
        try:
            if os.path.samefile(directory, path):
                return True
        except OSError:
            pass
        if path == os.path.dirname(path):
            return False
        path = os.path.dirname(path)


def system(private):
    """Lists what holds programs and libraries: the system's directories, and those of Python."""
    mine = [os.path.realpath(p) for p in private]

    def inside(path, directory):
        return path == directory or path.startswith(directory.rstrip("/") + "/")

    try:
        names = set(os.listdir("/")) - PRIVATE
    except PermissionError:  # it is confined already
        names = SYSTEM
    found = ["/" + name for name in sorted(names)]
    pythons = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    pythons = [os.path.realpath(p) for p in pythons] + [os.path.dirname(os.path.realpath(sys.executable))]
    found += [p for p in map(os.path.realpath, sys.path) if os.path.exists(p) and not inside(p, mine[0])]
    return [p for p in found + pythons if not any(inside(m, p) for m in mine)]
