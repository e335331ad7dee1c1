import ctypes
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

LIMIT = 7
items = [1, 2]


def solve(x, y=2):
    print("100 100")
    return {"a": [x, y], "b": (1.5, None, b"x", {1, 2})}


def raises(name):
    if name == "syntax":
        raise SyntaxError("no", ("100", 1, 1, "100"))
    if name == "named":
        raise type("\n100\n", (Exception,), {})("\r100\x85")
    raise {"StopIteration": StopIteration, "SystemExit": SystemExit, "KeyboardInterrupt": KeyboardInterrupt, "ValueError": ValueError, "OSError": FileNotFoundError, "own": Own}[name]("no\n100 100")


class Own(LookupError):
    pass


class Agrees:
    """Answers as it is asked, and remembers what for."""

    def __init__(self, asked=None):
        self.asked = asked

    def __contains__(self, value):
        self.asked = value
        return True

    def startswith(self, value):
        self.asked = value
        return True

    endswith = issubset = issuperset = isdisjoint = startswith


class Equal:
    paths = {"a": [1]}

    def __eq__(self, other):
        return True

    def __bool__(self):
        return True


def squares(n):
    for i in range(n):
        yield i * i


def apply(f, values):
    return [f(v) for v in values]


def applies_in_thread(f):
    found = []
    thread = threading.Thread(target=lambda: found.append(f(1)))
    thread.start()
    thread.join()
    return found


def deep(f, n):
    return n if n == 0 else f(n - 1)


def echo(value):
    return value


def never(begun, how):
    begun()
    while how == "sleeps":
        time.sleep(3600)
    while how == "computes":
        pass
    while True:
        try:
            begun()
        except ValueError:
            pass


def handles_signals():
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return threading.current_thread() is threading.main_thread()


def give(what):
    return {"equal": Equal(), "agrees": Agrees(), "in list": [1, {"k": [Equal()]}], "module": os, "function": solve, "class": Equal, "much": b"x" * (257 << 20) if what == "much" else None}[what]


class Stack:
    kind = "stack"

    def __init__(self, items=()):
        self.items = list(items)

    def push(self, x):
        self.items.append(x)
        return self

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, value):
        self.items[i] = value

    def __contains__(self, x):
        raise AssertionError("the submission is told what is expected")

    def __str__(self):
        return "a stack"

    @classmethod
    def of(cls, *items):
        return cls(items)


def tries(pid, workspace):
    """Returns what of the grader's this process can reach."""
    reached = []
    for name, act in {
        "memory": lambda: open(f"/proc/{pid}/mem", "rb"), "environment": lambda: open(f"/proc/{pid}/environ").read(),
        "descriptor": lambda: open(f"/proc/{pid}/fd/1", "w"), "signal": lambda: os.kill(pid, 0), "directory": lambda: os.listdir(workspace),
        "score": lambda: open(workspace + "/score", "w"), "grader": lambda: open(workspace + "/grader.py").read(),
        "bytecode": lambda: os.mkdir(workspace + "/__pycache__"), "temporary": lambda: open("/tmp/fevalgraph-was-here", "w"),
        "stand-in": lambda: open(workspace + "/answer/solution.py").read(), "runtime": lambda: open(workspace + "/.separate/fevalgraph_separate/grader.py", "a"),
        "shared memory": lambda: open("/dev/shm/fevalgraph-was-here", "w"), "granted": lambda: open(workspace + "/granted").read(),
        "own": lambda: open(os.environ["TMPDIR"] + "/x", "w").close(),
    }.items():
        try:
            act()
            reached.append(name)
        except OSError:
            pass
    return reached


def changes(pid, workspace):
    """Returns what of the grader's this process can change, apart from contents."""
    files = [workspace, workspace + "/grader.py", workspace + "/granted", workspace + "/answer"]
    before = [(os.stat(f).st_mode, os.stat(f).st_mtime_ns, os.stat(f).st_uid) for f in files]
    libc = ctypes.CDLL(None, use_errno=True)
    for f in files:
        for act in (lambda: os.chmod(f, 0), lambda: os.chmod(f, 0o600), lambda: os.chmod(os.open(f, os.O_RDONLY), 0), lambda: os.chmod(f, 0o6777),
                    lambda: os.chmod(os.path.basename(f), 0, dir_fd=os.open(os.path.dirname(f), os.O_PATH)),
                    lambda: libc.syscall(452, -100, f.encode(), 0, 0), lambda: os.utime(f, (0, 0)), lambda: os.utime(os.open(f, os.O_RDONLY), (0, 0)),
                    lambda: os.chown(f, os.getuid() + 1, -1)):
            try:
                act()
            except OSError:
                pass
    changed = [f for f, was in zip(files, before) if (os.stat(f).st_mode, os.stat(f).st_mtime_ns, os.stat(f).st_uid) != was]
    for f in files:
        try:
            os.setxattr(f, "user.was.here", b"1")
            changed.append("attribute")
        except OSError:
            pass
    for name, act in {
        "limit": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, 8)), "processors": lambda: os.sched_setaffinity(pid, {0}),
        "ring": lambda: 1 / (libc.syscall(425, 1, ctypes.create_string_buffer(200)) + 1), "flags": lambda: fcntl.ioctl(os.open(files[2], os.O_RDONLY), 0x40086602, b"\x80" + bytes(7)),
    }.items():
        try:
            act()
            changed.append(name)
        except (OSError, ZeroDivisionError):
            pass
    return changed


def copies():
    """Copies and runs a file of its own, as honest programs do."""
    here = os.environ["TMPDIR"]
    shutil.copy2(__file__, here + "/copied")
    with open(here + "/program", "w") as f:
        f.write("#!/bin/sh\necho ran\n")
    os.chmod(here + "/program", 0o755)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    return subprocess.run([here + "/program"], capture_output=True, text=True).stdout


def environment():
    return dict(os.environ)


def end(code):
    os._exit(code)


if __name__ == "__main__":
    print("as a program", sys.argv[1])
