"""The grader's half: the submission's process, and what stands for its modules and objects."""

import array
import ast
import atexit
import builtins
import collections
import functools
import importlib.machinery
import io
import itertools
import os
import pickle
import re
import socket
import subprocess
import sys
import tempfile
import threading
import types
import weakref

from .values import ABANDON, CONTROL, MAX_DEPTH, MAX_MESSAGE, MAX_NAME, OPEN, OPEN_MAIN, CannotCross, Channel, Encoder, Malformed, Reader, SubmissionError, _U64, describe, receive, send

CHILD = "FEVALGRAPH_SEPARATE_CHILD"  # in the environment of the submission's process
READS = "FEVALGRAPH_SEPARATE_READS"  # what it can read of the workspace: names with ":" between
HIDES = "FEVALGRAPH_SEPARATE_HIDES"  # variables that it does not get: names with "," between
OWN = "FEVALGRAPH_SEPARATE_OWN"      # directories of the workspace with code of the grader, as READS

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
WORKSPACE = os.path.dirname(HERE)
STARTED = os.path.join(HERE, "started")    # made when everything of the problem was in place
UNUSABLE = os.path.join(HERE, "unusable")  # why a process could not be confined
LOG = os.path.join(HERE, "log")            # what the submission prints


class Connection:
    """The process of the submission. Methods are safe for concurrent use, and calls of several
    threads take place at the same time. One that was forked from the grader's process has no use
    for it."""

    def __init__(self):
        self.pid = os.getpid()
        self.lock = threading.RLock()  # of what follows
        self.known = weakref.WeakValueDictionary()  # stand-ins by number
        self.received = collections.Counter()  # how often each number came
        self.dropped = []  # numbers of stand-ins that are gone
        self.granted = []  # what the submission may call, and what keeps it from being another's
        self.numbers = {}  # the number of what was granted, by id
        self.ended = None
        self.channels = itertools.count(1)
        self.main = None  # the channel of the main thread
        self.idle = []  # other channels without a request
        self.local = threading.local()  # the channel of a thread's request, and whether it serves a call meanwhile
        self.start()

    def start(self):
        theirs, self.control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own = tempfile.mkdtemp(prefix="private-", dir=HERE)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONPATH", "PYTHONSTARTUP", "FEVALGRAPH_SEPARATE"))}
        for name in os.environ.get(HIDES, "").split(","):
            env.pop(name, None)
        env.update({CHILD: "1", "HOME": own, "TMPDIR": own})
        log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-s", "-B", os.path.join(os.path.dirname(os.path.realpath(__file__)), "process.py"), str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(theirs.fileno(),), env=env, start_new_session=True)
        finally:
            os.close(log)
            theirs.close()
        atexit.register(self.leave)
        reads = [os.path.join(WORKSPACE, p) for p in os.environ.get(READS, "").split(":") if p]
        private = [WORKSPACE, tempfile.gettempdir(), os.path.expanduser("~")]
        setting = own, reads, private, search_path(), list(sys.argv)
        channel = self.open(True)
        try:
            send(channel.writer, Encoder().message(*((part, "") for part in setting)))
            greeting = receive(channel.reader, 1 << 16)
        except OSError:
            greeting = None
        why = "it ended at once" if greeting is None else Reader(greeting).all()[0]
        if why is not None:  # nothing of the submission has run: this is no verdict
            with open(UNUSABLE, "w") as f:
                f.write(str(why))
            raise ImportError(f"the submission's process could not be confined: {why}")

    def open(self, main):
        """Opens a channel to the submission's main thread, or to another."""
        theirs, writer = os.pipe()
        reader, answers = os.pipe()
        for fd in (writer, answers):
            enlarge(fd)
        channel = Channel(next(self.channels), reader, writer, main)
        channel.depth = 1  # until the other side has it
        if main:
            self.main = channel
        try:
            self.control.sendmsg([CONTROL.pack(OPEN_MAIN if main else OPEN, channel.number)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (theirs, answers)))])
        finally:
            os.close(theirs)
            os.close(answers)
        channel.depth = 0
        return channel

    def take(self):
        """Returns a channel for a request of this thread, which no other request uses."""
        outer = getattr(self.local, "channel", None)
        if outer is not None and self.local.serving:
            return outer
        # A signal handler that interrupts a request cannot wait for the thread that answers that.
        if outer is None and threading.current_thread() is threading.main_thread():
            if self.main.closed or self.main.depth:
                self.abandon(self.main)
                self.open(True)
            return self.main
        try:
            return self.idle.pop()
        except IndexError:
            return self.open(False)

    def abandon(self, channel):
        """Closes a channel, and has the submission's process stop what it does for it."""
        if channel.closed:
            return
        channel.close()
        if not self.ended:
            try:
                self.control.send(CONTROL.pack(ABANDON, channel.number), socket.MSG_DONTWAIT)
            except OSError:  # the process has ended, or does not listen
                pass

    def ask(self, *request, place=""):
        """Sends a request, serves what the submission calls meanwhile, and returns the answer."""
        if os.getpid() != self.pid:
            raise CannotCross("an object of the submission is of use only to the process that made it, not to one forked from that")
        if self.ended:
            raise SubmissionError(self.ended)
        with self.lock:
            dropped, self.dropped[:] = [n for n in self.dropped if n not in self.known], []
            message = Passing(self).message((tuple((n, self.received.pop(n, 0)) for n in dropped), ""), *((part, place) for part in request))
        local, answer = self.local, None
        outer, serving = getattr(local, "channel", None), getattr(local, "serving", False)
        channel = None
        try:
            channel = self.take()
            if channel.depth >= MAX_DEPTH:
                answer = ()
                raise RecursionError(f"calls between the grader and the submission are nested deeper than {MAX_DEPTH} levels")
            channel.depth += 1
            local.channel, local.serving = channel, False
            answer = self.converse(channel, message)
        except OSError as e:
            if self.ended or isinstance(e, ConnectionError):
                raise self.end() from None
            raise
        except Malformed as e:
            self.end(str(e))
            raise
        finally:
            local.channel, local.serving = outer, serving
            if channel is not None and answer is None:  # this was interrupted, wherever that was
                self.abandon(channel)
            elif answer:
                channel.depth -= 1
                if channel is not outer and not channel.main:
                    self.idle.append(channel)
        kind, rest = answer
        if kind == "raise":
            raise self.exception(*rest)
        return rest[0]

    def converse(self, channel, message):
        """Returns the kind and the parts of the answer."""
        send(channel.writer, message)
        while True:
            data = receive(channel.reader, MAX_MESSAGE)
            if data is None:
                raise self.end()
            answer = Reader(data, self.stand_in).all()
            del data
            kind, rest = (answer[0], answer[1:]) if type(answer) is tuple and answer else (None, ())
            if kind == "value" and len(rest) == 1 or kind == "raise" and len(rest) == 6 and all(type(t) is str for t in rest[:3]) and type(rest[3]) is tuple:
                return kind, rest
            if kind != "call" or len(rest) != 3 or type(rest[1]) is not tuple or type(rest[2]) is not dict or not all(type(k) is str for k in rest[2]):
                raise Malformed("a message of the submission's process is no answer")
            self.local.serving = True
            answer = self.serve(channel, *rest)
            self.local.serving = False
            if channel.closed:
                raise SubmissionError("a call of the submission within the grader's function was interrupted, and so was the call that led to it")
            send(channel.writer, answer)

    def serve(self, channel, number, args, kwargs):
        """Answers a call of a function that the grader passed."""
        if type(number) is not int or not 0 < number <= len(self.granted):
            raise Malformed("the submission's process calls a function that it was not given")
        try:
            value = self.granted[number - 1][0](*args, **kwargs)
            return Passing(self).message(("value", ""), (value, "the value of the grader's function"))
        except Exception as e:
            if channel.closed:  # a request within the function was interrupted, and so is this one
                raise
            return Encoder().message(("raise", ""), (type(e).__name__, ""), (str(e), ""))

    def end(self, why=None):
        """Gives the process up, and returns the error of every later request."""
        self.process.kill()
        code = self.process.wait()
        with self.lock:
            if not self.ended:
                how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
                self.ended = why or f"the submission's process ended {how}"
                self.control.close()
        return SubmissionError(self.ended)

    def leave(self):
        if os.getpid() == self.pid and not self.ended:
            self.end()

    def stand_in(self, tag, reader):
        """Reads what stands for an object of the submission."""
        if tag != b"h":
            raise Malformed("a message of the submission's process has an unknown tag")
        kind, number, name, base = bytes(reader.take(1)), reader.number(), reader.text(4 * MAX_NAME), reader.text(MAX_NAME)
        name = "".join(c if c.isprintable() else "?" for c in name)
        if kind != b"c" and kind not in STAND_INS:
            raise Malformed("a message of the submission's process has an object of an unknown kind")
        with self.lock:
            self.received[number] += 1
            known = self.known.get(number)
            if known is not None:
                return known
            made = make_class(name, base) if kind == b"c" else object.__new__(STAND_INS[kind])
            (type if isinstance(made, type) else object).__setattr__(made, "_fevalgraph_state", (self, number, name))
            self.known[number] = made
            weakref.finalize(made, self.dropped.append, number).atexit = False
            return made

    def exception(self, base, name, text, args, trace, cls):
        """Makes the exception of one that code of the submission raised. Its texts have one line
        each, so that a grader that prints it prints no line of the submission's."""
        if not (isinstance(cls, type) and issubclass(cls, SubmissionError)):
            cls = exception_class(base)
            if cls is SubmissionError:
                args = (f"{name[:MAX_NAME]}: {text}",)
        if not all(type(a) in (str, int, float, bool, bytes, type(None)) for a in args):  # Python prints a line of those of SyntaxError
            args = (text,)
        args = tuple(" ".join(a.splitlines()) if type(a) is str else a for a in args)
        try:
            made = cls(*args)
        except Exception:
            made = SubmissionError(" ".join(text.splitlines()))
        made.submission_traceback = trace[-20_000:] if type(trace) is str else ""
        return made


def search_path():
    return [os.path.abspath(p) for p in sys.path]


def enlarge(fd):
    """Has a pipe hold more, for fewer switches between the processes."""
    try:
        import fcntl
        fcntl.fcntl(fd, 1031, 1 << 20)  # F_SETPIPE_SZ
    except (ImportError, OSError):
        pass


class Passing(Encoder):
    """Writes what the grader passes: objects of the submission by number, functions and
    iterators as what it may call, and others as copies. Nothing that comes back is pickled."""

    def __init__(self, connection):
        super().__init__(self.copy)
        self.connection = connection

    def copy(self, out, value, place, depth):
        reference = self.reference(value)
        if reference is not None:
            out += reference
            return True
        kept = io.BytesIO()
        pickler = Pickler(kept, self.reference)
        try:
            pickler.dump(value)
        except CannotCross:
            raise
        except Exception as e:
            raise CannotCross(f"{place} is an object of the class {describe(value)}, which cannot be copied into the submission's process: {e}") from None
        self.blob(b"k", kept.getvalue())
        return True

    def reference(self, value):
        """Returns what stands for an object that is not copied, or None."""
        if is_remote(value):
            connection, number, _ = state(value)
            if connection is not self.connection:
                raise CannotCross(f"{value!r} is of another process of the submission, which has ended or was forked from")
            return b"h" + _U64.pack(number)
        if type(value) in (types.FunctionType, types.MethodType, functools.partial):
            return b"g" + _U64.pack(self.grant(value, value))
        if type(value) is types.GeneratorType or type(value).__module__ in ("builtins", "itertools") and hasattr(type(value), "__next__"):
            def step():
                for item in value:
                    return True, item
                return False, None
            return b"j" + _U64.pack(self.grant(value, step))
        return None

    def grant(self, value, function):
        c = self.connection
        with c.lock:
            number = c.numbers.get(id(value))
            if number is None:
                c.granted.append((function, value))
                number = c.numbers[id(value)] = len(c.granted)
            return number


class Pickler(pickle.Pickler):
    """Copies an object, but for those that have a reference."""

    def __init__(self, to, reference):
        super().__init__(to, 4)
        self.reference = reference

    def persistent_id(self, value):
        return self.reference(value)


# --- Stand-ins ---------------------------------------------------------------------------

# Exceptions that mean something to who calls: StopIteration would end a loop over map() as if
# all had been well, and SystemExit the grader.
NOT_RAISED = {"StopIteration", "StopAsyncIteration"}


@functools.lru_cache(maxsize=None)
def exception_class(name):
    """Returns the class for an exception whose nearest builtin class has a name."""
    if name == CannotCross.__name__:
        return CannotCross
    base = getattr(builtins, name, None)
    if name in NOT_RAISED or not isinstance(base, type) or not issubclass(base, Exception) or base is Exception:
        return SubmissionError
    if issubclass(base, UnicodeError):
        base = UnicodeError  # others take arguments of their own
    try:
        return type(base.__name__, (SubmissionError, base), {"__module__": "submission"})
    except TypeError:
        return SubmissionError


def state(remote):
    """Returns the connection, number and name of a stand-in."""
    return (type if isinstance(remote, type) else object).__getattribute__(remote, "_fevalgraph_state")


def is_remote(value):
    return isinstance(value, Remote) or isinstance(value, type) and "_fevalgraph_state" in vars(value)


def ask(remote, what, *rest, place=""):
    connection, number, name = state(remote)
    return connection.ask(what, number, *rest, place=place)


def call(remote, args, kwargs):
    if state(remote)[0].pid != os.getpid() and remote in ORIGINS:
        remote = restore(*ORIGINS[remote])
    return ask(remote, "call", args, kwargs, place=f"the arguments of {state(remote)[2]}()")


WAY_OUT = "it is an object of the submission, and no plain data; compare its attributes, list(it), or what the submission returns as plain data"

# Methods of texts and sets that are given what a grader expects, and say whether it is so.
PREDICATES = {"startswith", "endswith", "issubset", "issuperset", "isdisjoint"}


def attribute(remote, attr):
    if attr in PREDICATES:
        raise CannotCross(f"{attr}() of {state(remote)[2]!r} would be answered by the submission: {WAY_OUT}")
    if attr.startswith("__") and attr.endswith("__") and attr not in ("__doc__", "__name__", "__qualname__"):
        raise AttributeError(f"{attr!r} of {state(remote)[2]!r} is in the submission's process")
    return ask(remote, "get", attr)


class Remote:
    """Stands for an object in the submission's process. It is no data: what a grader compares
    or tests for truth has to be plain."""

    __slots__ = "_fevalgraph_state", "__weakref__"

    def __repr__(self):
        return f"<{state(self)[2]!r} in the submission's process>"

    __str__ = __repr__

    def __reduce_ex__(self, protocol):
        if self in ORIGINS:
            return restore, ORIGINS[self]
        raise CannotCross(f"{self!r} can be neither copied nor pickled")

    def __eq__(self, other):
        if self is other:
            return True
        raise CannotCross(f"{self!r} cannot be compared: {WAY_OUT}")

    def __ne__(self, other):
        return not self == other

    __hash__ = object.__hash__

    def __bool__(self):
        raise CannotCross(f"{self!r} is neither true nor false: {WAY_OUT}")

    def __getattr__(self, attr):
        return attribute(self, attr)

    def __setattr__(self, attr, value):
        ask(self, "set", attr, value, place=f"the value of {attr}")


class Function(Remote):
    __slots__ = ()

    def __call__(self, *args, **kwargs):
        return call(self, args, kwargs)

    def __bool__(self):
        return True

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


class Iterator(Remote):
    __slots__ = ()

    def __iter__(self):
        return self

    def __next__(self):
        step = ask(self, "next")
        if type(step) is not tuple or len(step) != 2 or type(step[0]) is not bool:
            raise Malformed("a message of the submission's process is no step of an iterator")
        if not step[0]:
            raise StopIteration
        return step[1]


class Object(Remote):
    """An object that code of the submission returned."""

    __slots__ = ()

    def __call__(self, *args, **kwargs):
        return call(self, args, kwargs)

    def __iter__(self):
        return iter(special(self, "__iter__"))

    def __contains__(self, value):
        """Compares the elements here: the submission neither learns the value nor answers."""
        try:
            elements = list(self)
        except TypeError as e:
            raise CannotCross(f"whether {self!r} contains a value would be answered by the submission: {WAY_OUT}") from e
        return value in elements

    def __len__(self):
        raise CannotCross(f"{self!r} has no length here: {WAY_OUT}")

    def __getitem__(self, key):
        raise CannotCross(f"{self!r} has no elements here: {WAY_OUT}")

    def __enter__(self):
        return special(self, "__enter__")

    def __exit__(self, *_):
        special(self, "__exit__", None, None, None)
        return False


class Instance(Object):
    """An object that the grader made, by calling a class of the submission. What its methods
    return crosses as any result does, but none is given a value to compare."""

    __slots__ = ()

    def __len__(self):
        return special(self, "__len__", kind=int)

    def __bool__(self):
        return special(self, "__bool__", kind=bool)

    def __str__(self):
        return special(self, "__str__", kind=str)

    def __getitem__(self, key):
        return special(self, "__getitem__", key)

    def __setitem__(self, key, value):
        special(self, "__setitem__", key, value)

    def __delitem__(self, key):
        special(self, "__delitem__", key)


STAND_INS = {b"f": Function, b"i": Iterator, b"o": Object, b"n": Instance}


def special(remote, method, *args, kind=None):
    value = ask(remote, "special", method, args, place=f"the arguments of {method}()")
    if kind is not None and type(value) is not kind:
        raise Malformed(f"{method} of the submission is a {describe(value)} and no {kind.__name__}")
    return value


class Class(type):
    """The class of stand-ins for classes of the submission."""

    def __new__(cls, name, bases, namespace):
        if bases:
            raise CannotCross(f"{bases[0].__name__!r} is a class of the submission, from which none of the grader can derive")
        return super().__new__(cls, name, bases, namespace)

    def __call__(cls, *args, **kwargs):
        return call(cls, args, kwargs)

    def __getattr__(cls, attr):
        if attr == "_fevalgraph_state":
            raise AttributeError(attr)
        return attribute(cls, attr)

    def __setattr__(cls, attr, value):
        ask(cls, "set", attr, value, place=f"the value of {attr}")

    def __instancecheck__(cls, instance):
        return is_remote(instance) and instance._fevalgraph_state[0] is state(cls)[0] and ask(cls, "isinstance", state(instance)[1]) is True

    def __reduce_ex__(cls, protocol):
        raise CannotCross(f"{cls.__name__!r} can be neither copied nor pickled")


def make_class(name, base):
    """Makes what stands for a class. That of an exception is an exception."""
    namespace = {"__module__": "submission"}
    return type(name, (exception_class(base),), namespace) if base else Class(name, (), namespace)


ORIGINS = weakref.WeakKeyDictionary()  # of functions of modules: name, path, attribute


def restore(name, path, attr):
    return load(name, path, True).get(attr)


# --- Modules -----------------------------------------------------------------------------

class Module:
    """A module in the submission's process."""

    def __init__(self, connection, number, names, name, path, source):
        self.connection, self.number, self.names, self.name, self.path = connection, number, names, name, path
        self.defined = defined(source)
        self.kept = {}
        self.refused = set()  # what the log names

    def public(self, importer):
        """Returns the names that `from MODULE import *` binds in an importer's namespace: those
        that the source defines, and that replace neither builtins nor the importer's own."""
        def passes(name):
            if name.startswith("__") or hasattr(builtins, name) or self.defined is not None and name not in self.defined:
                return False
            return name not in importer or is_remote(importer[name])

        refused = ", ".join(repr(n[:MAX_NAME]) for n in self.names if not passes(n))
        if refused and refused not in self.refused:
            self.refused.add(refused)
            with open(LOG, "a") as f:
                f.write(f"fevalgraph: import * of {self.name!r} leaves out {refused}: builtins, names that the importer has, or names that the source does not define\n")
        return [n for n in self.names if passes(n)]

    def get(self, attr):
        if attr == "__all__":
            return self.public(sys._getframe(1).f_globals)
        if attr in self.kept:
            return self.kept[attr]
        if attr.startswith("__") and attr.endswith("__") and attr not in ("__doc__", "__version__", "__author__"):
            raise AttributeError(f"{attr!r} of the module {self.name!r} is in the submission's process")
        if self.connection.pid != os.getpid():
            return load(self.name, self.path, True).get(attr)
        value = self.connection.ask("get", self.number, attr)
        if is_remote(value):
            self.kept[attr] = value
            if isinstance(value, Function) and self.path:
                ORIGINS[value] = self.name, self.path, attr
        return value


def defined(source):
    """Returns the names that a module's source defines, or None if it can have all of another's."""
    names, nodes = set(), []
    try:
        tree = ast.parse(source)
        nodes = [tree, *(n for n in ast.walk(tree) if isinstance(n, ast.Global))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    while nodes:
        node = nodes.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, ast.ImportFrom):
            names.update(a.asname or a.name for a in node.names)
        elif isinstance(node, ast.Global):
            names.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        nodes.extend(ast.iter_child_nodes(node))
    return None if "*" in names else names


connection = None
connecting = threading.Lock()
loaded = {}  # modules by process, name and path


def connect():
    global connection
    with connecting:
        if connection is None or connection.pid != os.getpid():
            connection = Connection()
            watch_imports(importlib.machinery.SourceFileLoader)
        return connection


def load(name, path, registered, source=None):
    """Has the submission's process load a module: a file of the submission, or a source."""
    key = os.getpid(), name, path
    if source is None and key in loaded:
        return loaded[key]
    c = connect()
    try:
        answer = c.ask("import", name, path, registered, source, search_path())
    except SubmissionError as e:
        if c.ended:
            raise exception_class("ImportError")(str(e)) from None
        raise
    if type(answer) is not tuple or len(answer) != 2 or type(answer[0]) is not int or type(answer[1]) is not list or not all(type(n) is str for n in answer[1]):
        raise Malformed("a message of the submission's process is no module")
    text = source
    if source is None:
        with open(os.path.join(HERE, "submission", path), "rb") as f:
            text = f.read()
    module = loaded[key] = Module(c, *answer, name, path if source is None else "", text)
    return module


def fill(namespace, path, source=None):
    """Makes the module with this namespace stand for one of the submission."""
    if os.environ.get(CHILD):
        raise ImportError("what stands for a module of the submission was imported by the submission")
    name = namespace.get("__name__") or "submission"
    there = sys.modules.get(name)
    registered = there is not None and vars(there) is namespace
    loaded.pop((os.getpid(), name, path), None)  # it is executed anew, as by reload
    module = load(name, path, registered, source)
    namespace.update(__getattr__=module.get, __dir__=lambda: list(module.names))


STAND_IN = re.compile(rb"""\n_fevalgraph_fill\(globals\(\), ("[ -!#-~]*"), "[./a-z]*"\)\n\Z""")


def watch_imports(*loaders):
    """Has loaders of sources load what is not the grader's in the submission's process."""
    source = importlib.machinery.SourceFileLoader
    if hasattr(source, "_fevalgraph"):
        return
    source._fevalgraph = True
    foreign = origin()
    for loader in loaders:
        loader.exec_module = executing(loader.exec_module, foreign)
    for loader, method in ((importlib.machinery.SourcelessFileLoader, "exec_module"), (importlib.machinery.ExtensionFileLoader, "create_module")):
        setattr(loader, method, refusing(getattr(loader, method), foreign))


def origin():
    """Returns a function that reports whether a file's code is not the grader's. That of files
    that were written while the grader runs is not: a grader may write what the submission
    returned into one and import that. With OWN, neither is that of others in the workspace."""
    begun = os.stat(STARTED if os.path.exists(STARTED) else __file__).st_ctime_ns
    own = [os.path.join(WORKSPACE, p) + os.sep for p in os.environ.get(OWN, "").split(":") if p]
    submissions = [(WORKSPACE if own else HERE) + os.sep]

    def foreign(path):
        try:
            # What is mounted read-only may have been put there since, and not by the submission.
            late = os.stat(path).st_ctime_ns > begun and not os.statvfs(path).f_flag & os.ST_RDONLY
        except OSError:
            return True
        return late or any(p.startswith(tuple(submissions)) and not p.startswith(tuple(own)) for p in (os.path.abspath(path), os.path.realpath(path)))

    return foreign


def executing(original, foreign):
    def exec_module(self, module):
        path = getattr(self, "path", None) or module.__spec__.origin
        if not foreign(path):
            return original(self, module)
        with open(path, "rb") as f:
            text = f.read()
        copied = STAND_IN.search(text)
        if copied:  # which names a file of the submission, and is not executed itself
            fill(vars(module), ast.literal_eval(str(copied[1], "ascii")))
        else:
            fill(vars(module), path, text)
    return exec_module


def refusing(original, foreign):
    def method(self, what):
        if foreign(self.path):
            raise ImportError(f"{self.path} is not the grader's, and is no source", name=self.name, path=self.path)
        return original(self, what)
    return method
