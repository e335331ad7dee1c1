"""Tests of a grader that imports stand-ins, in the workspace that is its argument."""

import builtins
import concurrent.futures
import copy
import importlib
import importlib.util
import itertools
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import traceback

WORKSPACE = sys.argv[1]
sys.path.insert(0, WORKSPACE + "/answer")


def error(call, *args):
    try:
        value = call(*args)
    except BaseException as e:
        return e
    raise AssertionError(f"{value!r} in place of an error")


def load(path, name="answer"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


with open(WORKSPACE + "/grader.py", "w") as f, open(WORKSPACE + "/granted", "w") as g:
    f.write("secret"), g.write("shown")

import solution
from fevalgraph_separate.values import CannotCross, Malformed, SubmissionError

# Values, and modules.
assert solution.LIMIT == 7 and not hasattr(solution, "nothing") and "solve" in dir(solution)
assert solution.solve(3) == {"a": [3, 2], "b": (1.5, None, b"x", {1, 2})} == solution.solve(x=3)
solution.items.append(3)
assert solution.items == [1, 2]
import other, pkg, pkg.inner
from other import *
assert twice() == other.twice() == (14, 7)
hashlib = sys  # a name that the grader has
from exports import *
from exports import *
assert (all, hashlib, given(), GIVEN) == (builtins.all, sys, "given", 3) and "invented" not in globals() and other.twice.__name__ == "twice"
with open(WORKSPACE + "/.separate/log") as f:
    assert "import * of 'exports' leaves out 'all', 'hashlib', 'invented':" in f.read()
assert pkg.inner.inner() == "pkg.inner" and pkg.inner.__file__.startswith(WORKSPACE + "/answer")
again = load(WORKSPACE + "/answer/solution.py")
assert again.solve is again.solve and again.solve is not solution.solve
elsewhere = WORKSPACE + "/elsewhere.py"
with open(WORKSPACE + "/answer/solution.py") as f, open(elsewhere, "w") as to:
    to.write(f.read())
assert load(elsewhere).solve(1)["a"] == [1, 2]

# What is no data.
assert type(error(solution.give, "in list")) is CannotCross
assert "the result of give()[1]['k'][0] is an object of the class solution.Equal" in str(error(solution.give, "in list"))
equal = solution.give("equal")
assert equal.paths == {"a": [1]}
for act in (lambda: equal == 3, lambda: equal != 3, lambda: bool(equal), lambda: 3 in [equal], lambda: copy.copy(equal), lambda: pickle.dumps(equal)):
    assert type(error(act)) is CannotCross
for act in (lambda: len(equal), lambda: equal + 1, lambda: equal < 1, lambda: float(equal)):
    assert isinstance(error(act), TypeError)
for agrees in (solution.give("agrees"), solution.Agrees()):
    for act in (lambda: 42 in agrees, lambda: agrees == 42, lambda: [42] == [agrees], lambda: agrees.startswith("42"), lambda: agrees.endswith("42"), lambda: agrees.issubset({42})):
        assert type(error(act)) is CannotCross and "plain data; compare its attributes" in str(error(act)), error(act)
    assert agrees.asked is None
assert type(error(len, equal)) is type(error(lambda: equal[0])) is CannotCross
assert type(error(solution.solve, open(os.devnull))) is CannotCross

# Exceptions: none ends the grader, a loop, or more than a line.
for name in ("StopIteration", "SystemExit", "KeyboardInterrupt"):
    assert type(error(solution.raises, name)) is SubmissionError, name
e = error(solution.raises, "ValueError")
assert isinstance(e, ValueError) and isinstance(e, SubmissionError) and str(e) == "no 100 100" and "in raises" in e.submission_traceback
for name in ("syntax", "named"):
    shown = "".join(traceback.format_exception_only(error(solution.raises, name)))
    assert "100" in shown and "100" not in [line.strip() for line in shown.splitlines()], shown
assert isinstance(error(solution.raises, "OSError"), FileNotFoundError)
assert isinstance(error(solution.raises, "own"), LookupError)
try:
    solution.raises("own")
except solution.Own as e:
    assert e.args == ("no 100 100",)
try:
    all(map(solution.raises, ["StopIteration"]))
except SubmissionError:
    pass
else:
    raise AssertionError("StopIteration ended a loop")

# Objects, functions and iterators by reference.
stack = solution.Stack([1])
assert stack.push(2) is stack and len(stack) == 2 and stack[1] == 2 and 2 in stack and str(stack) == "a stack" and stack.items == [1, 2]
stack[0] = 5
stack.kind = "changed"
assert stack.items == [5, 2] and stack.kind == "changed" and solution.Stack.kind == "stack" and solution.Stack.of(1).items == [1]
assert isinstance(stack, solution.Stack) and not isinstance(equal, solution.Stack) and not isinstance(3, solution.Stack) and list(stack) == [5, 2]
assert isinstance(error(lambda: stack[9]), IndexError) and solution.solve(1, stack.items)["a"] == [1, [5, 2]]
assert list(solution.squares(4)) == [0, 1, 4, 9] and solution.give("function")(1)["a"] == [1, 2] and solution.give("class") is solution.Equal
assert solution.apply(lambda x: x + 1, (n for n in (1, 2))) == [2, 3] and solution.applies_in_thread(lambda x: x + 1) == [2]
assert isinstance(error(solution.apply, lambda x: 1 // x, [0]), ZeroDivisionError)
down = lambda n: solution.deep(down, n)
assert solution.deep(down, 30) == 0 and isinstance(error(solution.deep, down, 500), RecursionError)
assert type(error(lambda: type("Mine", (solution.Stack,), {}))) is CannotCross
for _ in range(3):  # numbers of objects that are gone are not another's
    assert [solution.Stack([i]).items for i in range(50)] == [[i] for i in range(50)]

# An interrupted call has no effect on later ones, wherever it is interrupted.
class Late(BaseException):
    pass


def late(*_):
    raise Late


def disarm():
    """Ends a timer, and runs the handler of a signal that Python has not noticed yet."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGALRM))


def interrupted(call, *args):
    signal.signal(signal.SIGALRM, late)
    begun = lambda: signal.setitimer(signal.ITIMER_REAL, 0.001)
    e = error(call, begun, *args)
    try:
        disarm()
    except Late:  # the call armed it again
        pass
    return type(e) is Late


def swallows(begun):
    def within():
        assert interrupted(solution.never, "computes")
    return error(solution.apply, lambda x: within(), [1])


for how in ("sleeps", "computes", "calls"):
    for _ in range(3):
        assert interrupted(solution.never, how) and solution.echo(how) == how and solution.handles_signals()
assert type(error(solution.apply, late, [1])) is Late and solution.echo(1) == 1
assert "was interrupted" in str(swallows(None)) and solution.echo(2) == 2
signal.signal(signal.SIGALRM, signal.default_int_handler)
assert type(error(solution.never, lambda: signal.setitimer(signal.ITIMER_REAL, 0.001), "sleeps")) is KeyboardInterrupt and stack.push(1) is stack
signal.signal(signal.SIGALRM, late)
chance, large, interruptions = random.Random(1), b"x" * (3 << 20), 0
for i in range(400):
    value = (i, large) if i % 40 == 0 else i
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 2e-2 if i % 40 == 0 else 3e-4))
        try:
            assert solution.echo(value) == value, i
        finally:
            disarm()
    except Late:
        interruptions += 1
    assert solution.echo(i) == i and solution.Stack([i]).items == [i]
assert interruptions > 10, interruptions
def asks(*_):
    i = next(numbers)  # a handler that is late is interrupted by the next one
    asked.append((i, solution.echo(i)))


numbers, asked = itertools.count(), []
signal.signal(signal.SIGALRM, asks)
for i in range(100):
    signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 1e-3))
    assert solution.echo(-i) == -i
while not asked:
    solution.echo(1)
disarm()
assert all(i == echoed for i, echoed in asked), asked

# A call of a thread that the grader does not wait for holds up no other.
release = threading.Event()
with concurrent.futures.ThreadPoolExecutor(5) as threads:
    held = threads.submit(solution.apply, lambda x: release.wait() and x, [7])
    assert type(error(held.result, 0.01)) in (TimeoutError, concurrent.futures.TimeoutError)
    assert solution.echo(8) == 8 and list(threads.map(solution.echo, range(1000))) == list(range(1000))
    assert all(threads.map(lambda i: all(list(solution.squares(4)) == [0, 1, 4, 9] and solution.Stack([i]).items == [i] for _ in range(100)), range(4)))
    release.set()
    assert held.result() == [7]

# What the grader writes while it runs is not its own code.
for name, text in {"written": "import os\ndef process(): return os.getpid()\n", "second": "import written\nprocess = written.process\n"}.items():
    with open(f"{WORKSPACE}/{name}.py", "w") as f:
        f.write(text)
module = load(WORKSPACE + "/written.py", "written")
assert module.process() != os.getpid()
code = importlib.util.cache_from_source(WORKSPACE + "/compiled.py")
os.makedirs(os.path.dirname(code), exist_ok=True)
with open(WORKSPACE + "/compiled.pyc", "wb") as f:
    f.write(b"")
assert isinstance(error(importlib.machinery.SourcelessFileLoader("compiled", WORKSPACE + "/compiled.pyc").exec_module, None), ImportError)

# Other processes of the grader have one of their own.
child = os.fork()
if child == 0:
    os._exit(0 if solution.solve(1)["a"] == [1, 2] and type(error(lambda: stack.push(1))) is CannotCross else 1)
assert os.waitpid(child, 0)[1] == 0
assert pickle.loads(pickle.dumps(solution.solve))(4)["a"] == [4, 2]
done = subprocess.run([sys.executable, WORKSPACE + "/answer/solution.py", "x"], stdout=subprocess.PIPE, text=True)
assert done.stdout == "as a program x\n", done

# What the process can reach.
assert solution.tries(os.getpid(), WORKSPACE) == ["granted", "own"], solution.tries(os.getpid(), WORKSPACE)
assert solution.changes(os.getpid(), WORKSPACE) == [] and solution.copies() == "ran\n", solution.changes(os.getpid(), WORKSPACE)
environment = solution.environment()
assert "GRADERS_SECRET" not in environment and environment["GRADERS_SETTING"] == "1", environment
with open(WORKSPACE + "/.separate/log") as f:
    assert "100 100\n100 100\n" in f.read()

# Its end is an error.
if sys.argv[2] == "much":
    assert "more than the 256 MiB" in str(error(solution.give, "much"))
else:
    assert "the submission's process ended with exit code 0" in str(error(solution.end, 0))
assert type(error(solution.solve, 1)) is SubmissionError
assert isinstance(error(load, WORKSPACE + "/answer/solution.py"), ImportError)
print("ok")
