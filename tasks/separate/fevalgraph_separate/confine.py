"""Keeps a process from the files, processes and signals of the grader, by Landlock and seccomp.

It takes no rights, works in containers and inside of other isolation, and what the process
starts is confined as well. Processes outside of it cannot be read through /proc or traced.
"""

import ctypes
import errno
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
    return filter_calls(libc)


# The system calls that Landlock does not restrict, by machine: their numbers on x86-64 and on arm64.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
MODES = {"chmod": (90, None, 1), "fchmod": (91, 52, 1), "fchmodat": (268, 53, 2), "fchmodat2": (452, 452, 2)}  # and the argument with the mode
TIMES = {"utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88)}
OWNERS = {"chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54)}
ATTRIBUTES = {"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
              "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469)}
URING = {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)}  # which can set attributes
# Those that change another process if their first argument is not 0.
OTHERS = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274)}
IOCTL_NUMBER, FLAGS = (16, 29), (0x40086602, 0x40046602, 0x401C5820)  # set flags of files and projects


def filter_calls(libc):
    """Denies this process, and what it starts, to change modes, times, owners and attributes of
    files, which Landlock does not restrict, and limits of other processes. A mode takes effect if
    it lets the owner do everything; other changes of modes and times have none and succeed, as
    copying a file makes them. Returns why that is not possible, or None."""
    machine = MACHINES.get(os.uname().machine)
    if machine is None or struct.calcsize("P") != 8:
        return f"there is no filter of system calls for {os.uname().machine}"
    architecture, column = machine
    load, mask, equal, least, give = 0x20, 0x54, 0x15, 0x35, 0x06
    allow, succeed, denied, unsupported, missing = 0x7FFF0000, 0x50000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOTSUP, 0x50000 | errno.ENOSYS
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, missing), (load, 0, 0, 0), (least, 0, 1, 0x40000000), (give, 0, 0, missing)]

    def rule(numbers, *then):
        if numbers[column] is not None:
            program.extend([(equal, 0, len(then), numbers[column]), *then])

    for first, last, argument in MODES.values():
        rule((first, last), (load, 0, 0, 16 + 8 * argument), (mask, 0, 0, 0o7700), (equal, 0, 1, 0o700), (give, 0, 0, allow), (give, 0, 0, succeed))
    for calls, result in ((TIMES, succeed), (OWNERS, denied), (ATTRIBUTES, unsupported), (URING, missing)):
        for numbers in calls.values():
            rule(numbers, (give, 0, 0, result))
    for numbers in OTHERS.values():
        rule(numbers, (load, 0, 0, 16), (equal, 0, 1, 0), (give, 0, 0, allow), (give, 0, 0, denied))
    rule(IOCTL_NUMBER, (load, 0, 0, 24), *((equal, len(FLAGS) - i, 0, flag) for i, flag in enumerate(FLAGS)), (give, 0, 0, allow), (give, 0, 0, denied))
    program.append((give, 0, 0, allow))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *i) for i in program))
    sent = struct.pack("@HP", len(program), ctypes.addressof(code))
    if libc.prctl(22, 2, sent, 0, 0) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        return f"seccomp: {os.strerror(ctypes.get_errno())}"
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
