import os
import signal
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
    return {"equal": Equal(), "in list": [1, {"k": [Equal()]}], "module": os, "function": solve, "class": Equal, "much": b"x" * (257 << 20) if what == "much" else None}[what]


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
        return x in self.items

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


def environment():
    return dict(os.environ)


def end(code):
    os._exit(code)


if __name__ == "__main__":
    print("as a program", sys.argv[1])
