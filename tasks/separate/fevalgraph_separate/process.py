"""The process of the submission: loads its modules and serves the grader's requests.

Started as a program, with the descriptor of a socket. Before anything of the submission is
loaded it confines itself.
"""

import array
import collections
import ctypes
import functools
import importlib.util
import io
import os
import pickle
import queue
import signal
import socket
import sys
import threading
import traceback
import types

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from fevalgraph_separate.confine import confine
from fevalgraph_separate.values import CONTROL, MAX_NAME, OPEN, OPEN_MAIN, CannotCross, Channel, Encoder, Reader, describe, receive, send, _U64

CALLABLE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial, getattr(functools, "_lru_cache_wrapper"))


class Server:
    """The objects that the grader has stand-ins of, and the conversations about them."""

    def __init__(self, control, submission, path):
        self.control, self.submission, self.path = control, submission, path
        self.objects, self.numbers, self.made, self.last = {}, {}, set(), 0
        self.sent = collections.Counter()  # how often each number went to the grader
        self.lock = threading.RLock()  # of what is above
        self.waiting = queue.SimpleQueue()  # channels for the main thread
        self.served = None  # the main thread's channel
        self.threads = {}  # channels that are served and the numbers of threads, by number
        self.local = threading.local()  # the conversation of a thread
        self.requested = set()  # names of modules that the grader had loaded
        self.log = sys.stdout, sys.stderr  # before the submission can replace them

    # Channels.

    def start(self, channel):
        """Serves a first channel, and those that the grader opens, until the grader ends."""
        self.waiting.put(channel)
        signal.signal(signal.SIGURG, self.interrupted)
        threading.Thread(target=self.obey, daemon=True).start()
        while True:
            try:
                self.served = None  # a signal for it that is late must not end the wait for the next
                self.served = self.waiting.get()
                self.talk(self.served)
            except Abandoned:
                pass

    def obey(self):
        """Opens and abandons channels as the grader says."""
        main = threading.main_thread().ident
        while True:
            what, number, channel = receive_control(self.control)
            if what is None:
                os._exit(0)
            if what == OPEN_MAIN:
                self.threads[number] = channel, main
                self.waiting.put(channel)
            elif what == OPEN:
                threading.Thread(target=self.talk, args=(channel,), daemon=True).start()
            else:
                self.abandon(number, main)

    def abandon(self, number, main):
        with self.lock:
            channel, thread = self.threads.get(number, (None, None))
            if channel is None:
                return
            channel.abandoned = True
            if thread == main:  # a system call is interrupted as well
                signal.pthread_kill(main, signal.SIGURG)
            else:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Abandoned))

    def interrupted(self, *_):
        if self.served is not None and self.served.abandoned:
            raise Abandoned

    def talk(self, channel):
        """Serves a channel until the grader closes it."""
        self.threads[channel.number] = channel, threading.get_ident()
        self.local.conversation = Conversation(self, channel)
        try:
            self.local.conversation.serve()
        except (Abandoned, OSError):
            pass
        finally:
            with self.lock:
                self.threads.pop(channel.number, None)
            channel.close()

    # What goes to the grader.

    def encode(self, results, *parts):
        """Writes a message. Other objects than results go by number only if they have one."""
        return Encoder(functools.partial(self.number, results)).message(*parts)

    def number(self, results, out, value, place, depth):
        kind = kind_of(value)
        with self.lock:
            if id(value) not in self.numbers and kind in ("o", "n") and not any(value is r for r in results):
                return False
            known = self.register(value)
            self.sent[known] += 1
        if known in self.made and kind == "o":
            kind = "n"
        base = builtin_base(value) if kind == "c" and issubclass(value, Exception) else ""
        name = getattr(value, "__qualname__", None)
        if type(name) is not str:
            name = type(value).__qualname__
        out += b"h" + kind.encode() + _U64.pack(known)
        for text in (name[:MAX_NAME], base):
            data = text.encode("utf-8", "replace")
            out += _U64.pack(len(data)) + data
        return True

    def register(self, value):
        """Returns the number of an object."""
        with self.lock:
            known = self.numbers.get(id(value))
            if known is None:
                self.last += 1
                known = self.numbers[id(value)] = self.last
                self.objects[known] = value
            return known

    def drop(self, number, count):
        """Forgets an object when the grader has no stand-in of it, and none is on its way."""
        with self.lock:
            self.sent[number] -= count
            if self.sent[number] <= 0:
                del self.sent[number]
                self.numbers.pop(id(self.objects.pop(number, None)), None)
                self.made.discard(number)

    def answer(self, value, place):
        return self.encode((value,), ("value", ""), (value, place))

    def failure(self, e):
        text = str_of(e)
        try:
            args = tuple(e.args)
            self.encode((), (args, ""))
        except Exception:
            args = (text,)
        trace = "".join(traceback.format_exception(type(e), e, e.__traceback__))[-20_000:]
        cls = type(e) if isinstance(e, Exception) and type(e).__module__ != "builtins" else None
        parts = ("raise", builtin_base(type(e)), type(e).__name__, text, args, trace, cls)
        return self.encode((), *((part, "") for part in parts))

    # What the grader asks.

    def place(self, what, number, attr=None, *_):
        """Returns what errors call the value of a request."""
        value = self.objects.get(number)
        name = getattr(value, "__qualname__", getattr(value, "__name__", type(value).__qualname__))
        return {"call": f"the result of {name}()", "next": f"an element of {name}", "special": f"the value of {name}.{attr}()"}.get(what, f"{name}.{attr}")

    def do_import(self, name, path, registered, source, searched):
        self.search(searched)
        there = sys.modules.get(name)
        if source is None:
            path = os.path.join(self.submission, path)
        if registered and source is None and name not in self.requested and getattr(there, "__file__", None) == path:
            module = there
        elif source is not None:
            module = types.ModuleType(name)
            module.__file__ = path
            sys.modules[name] = module
            exec(compile(source, path, "exec"), vars(module))
        else:
            package = [os.path.dirname(path)] if os.path.basename(path) == "__init__.py" else None
            spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=package)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except BaseException:
                sys.modules.pop(name, None)
                raise
            module = sys.modules.get(name, module)
        if registered:
            self.requested.add(name)
        names = getattr(module, "__all__", None)
        if names is None:
            names = [n for n, v in vars(module).items() if not n.startswith("_") and not isinstance(v, types.ModuleType)]
        return self.register(module), [str(n) for n in names]

    def search(self, path):
        """Adds what is new in the grader's search path to that of this process."""
        new = [p for p in path if p not in self.path]
        self.path += new
        sys.path[:0] = search_path(new, os.path.dirname(os.path.dirname(self.submission)), self.submission)

    def do_get(self, number, attr):
        return getattr(self.objects[number], attr)

    def do_set(self, number, attr, value):
        setattr(self.objects[number], attr, value)

    def do_call(self, number, args, kwargs):
        function = self.objects[number]
        value = function(*args, **kwargs)
        if isinstance(function, type) and kind_of(value) == "o":
            self.made.add(self.register(value))
        return value

    def do_next(self, number):
        try:
            return True, next(self.objects[number])
        except StopIteration:
            return False, None

    def do_special(self, number, method, args):
        value = self.objects[number]
        if method == "__bool__":
            return bool(value)
        if method == "__str__":
            return str(value)
        if method == "__iter__":
            return iter(value)
        return getattr(type(value), method)(value, *args)

    def do_isinstance(self, cls, number):
        return isinstance(self.objects[number], self.objects[cls])


class Abandoned(BaseException):
    """The grader does not wait for an answer any more, such as after a timeout."""


class Conversation:
    """Answers the requests of a channel."""

    def __init__(self, server, channel):
        self.server, self.channel = server, channel
        self.lock = threading.RLock()  # of the channel, for calls of the grader by other threads

    def receive(self):
        data = receive(self.channel.reader)
        if data is None:
            raise Abandoned
        return data

    def send(self, message):
        """Sends a message, after everything that was printed before it: the grader kills this process at its end."""
        for stream in self.server.log:
            try:
                stream.flush()
            except (OSError, ValueError):  # the submission closed it
                pass
        send(self.channel.writer, message)

    def serve(self):
        while True:
            self.respond(self.receive())

    def respond(self, data):
        server = self.server
        self.channel.depth += 1
        try:
            request = Reader(data, self.stub, sys.maxsize).get(0)
            for number, count in request[0]:
                server.drop(number, count)
            message = server.answer(getattr(server, "do_" + request[1])(*request[2:]), request[1] if request[1] == "import" else server.place(*request[1:4]))
        except BaseException as e:
            if self.channel.abandoned:
                raise Abandoned from None
            message = server.failure(e)
        with self.lock:
            self.send(message)
            self.channel.depth -= 1

    def stub(self, tag, reader):
        """Returns what stands for an object of the grader."""
        if tag == b"h":
            return self.server.objects[reader.number()]
        if tag == b"g":
            return Function(self, reader.number())
        if tag == b"j":
            return Iterator(self, reader.number())
        loader = pickle.Unpickler(io.BytesIO(reader.blob()))
        loader.persistent_load = lambda kept: self.stub(kept[:1], Reader(kept[1:]))
        try:
            return loader.load()
        except Exception as e:
            raise CannotCross(f"an object that the grader passes cannot be made in the submission's process: {type(e).__name__}: {e}") from None

    def call(self, number, args, kwargs):
        """Calls a function of the grader, and serves what it asks meanwhile."""
        place = "the arguments of the grader's function"
        with self.lock:
            if self.channel.closed or not self.channel.depth:
                raise RuntimeError("the grader's function can be called only during the call that passed it")
            self.send(self.server.encode((), ("call", ""), (number, ""), (args, place), (kwargs, place)))
            return self.listen()

    def listen(self):
        while True:
            data = self.receive()
            if data[:1] != b"t" or data[9:10] != b"s":  # a request begins with a tuple of numbers
                self.respond(data)
                continue
            answer = Reader(data, self.stub, sys.maxsize).get(0)
            if answer[0] == "value":
                return answer[1]
            raise grader_error(*answer[1:])


class Function:
    """A function that the grader passed."""

    def __init__(self, conversation, number):
        self._conversation, self._number = conversation, number

    def __call__(self, *args, **kwargs):
        # A thread that serves a request has its own conversation, where the grader listens.
        own = getattr(self._conversation.server.local, "conversation", None) or self._conversation
        return own.call(self._number, args, kwargs)


class Iterator(Function):
    """An iterator that the grader passed."""

    def __iter__(self):
        return self

    def __next__(self):
        more, value = self()
        if not more:
            raise StopIteration
        return value


def grader_error(name, text):
    import builtins
    cls = getattr(builtins, name, RuntimeError)
    try:
        return cls(text) if isinstance(cls, type) and issubclass(cls, Exception) else RuntimeError(f"{name}: {text}")
    except TypeError:
        return RuntimeError(f"{name}: {text}")


def kind_of(value):
    if isinstance(value, type):
        return "c"
    if isinstance(value, CALLABLE):
        return "f"
    if hasattr(type(value), "__next__") and hasattr(type(value), "__iter__"):
        return "i"
    return "o"


def builtin_base(cls):
    """Returns the name of the nearest builtin class of an exception, which the grader has as well."""
    for c in cls.__mro__:
        if c is CannotCross:
            return "CannotCross"
        if c.__module__ == "builtins":
            return c.__name__
    return "Exception"


def str_of(e):
    try:
        return str(e)
    except Exception:
        return describe(e)


def receive_control(control):
    """Returns what the grader has done with a channel, its number, and the channel if it is new."""
    fds = array.array("i")
    data, passed, _, _ = control.recvmsg(CONTROL.size, socket.CMSG_SPACE(2 * fds.itemsize), socket.MSG_CMSG_CLOEXEC)
    if len(data) < CONTROL.size:
        return None, 0, None
    what, number = CONTROL.unpack(data)
    for _, _, content in passed:
        return what, number, Channel(number, *array.array("i", content[:2 * fds.itemsize]), what == OPEN_MAIN)
    return what, number, None


def main():
    if sys.argv[1:] == ["--probe"]:
        sys.exit(confine([], [], [os.path.dirname(os.path.dirname(sys.path[0]))]))
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    channel = receive_control(control)[2]
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    workspace, submission = os.path.dirname(here), os.path.join(here, "submission")
    own, readable, private, path, argv = Reader(receive(channel.reader), None, sys.maxsize).get(0)
    sys.path[:] = search_path(path, workspace, submission)
    why = confine([own], [submission, os.path.dirname(os.path.abspath(__file__)), *readable], private)
    server = Server(control, submission, path)
    send(channel.writer, Encoder().message((why, "")))
    if why is None:
        sys.argv[:] = argv
        sys.dont_write_bytecode = True
        sys.modules.pop("__main__", None)
        sys.modules["__main__"] = types.ModuleType("__main__")
        server.start(channel)


def search_path(path, workspace, submission):
    """Returns the grader's search path with the submission's modules in place of their stand-ins."""
    found = []
    for entry in path:
        if entry == workspace or entry.startswith(workspace + os.sep):
            own = os.path.normpath(os.path.join(submission, os.path.relpath(entry, workspace)))
            if os.path.isdir(own):
                found.append(own)
        found.append(entry)
    return found


if __name__ == "__main__":
    main()
