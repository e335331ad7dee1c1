"""The process of the submission: loads its modules and serves the grader's requests.

Started as a program, with the descriptors of two pipes. Before anything of the submission is
loaded it confines itself.
"""

import functools
import importlib.util
import io
import os
import pickle
import sys
import threading
import traceback
import types

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from fevalgraph_separate.confine import confine
from fevalgraph_separate.values import MAX_NAME, CannotCross, Encoder, Reader, describe, receive, send, _U64

CALLABLE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial, getattr(functools, "_lru_cache_wrapper"))


class Server:
    """The objects that the grader has stand-ins of, and the conversation about them."""

    def __init__(self, reader, writer, submission, path):
        self.reader, self.writer, self.submission, self.path = reader, writer, submission, path
        self.objects, self.numbers, self.made, self.last = {}, {}, set(), 0
        self.lock = threading.RLock()  # of calls of the grader, also by other threads
        self.requested = set()  # names of modules that the grader had loaded
        self.log = sys.stdout, sys.stderr  # before the submission can replace them

    # What goes to the grader.

    def send(self, message):
        """Sends a message, after everything that was printed before it: the grader kills this process at its end."""
        for stream in self.log:
            try:
                stream.flush()
            except (OSError, ValueError):  # the submission closed it
                pass
        send(self.writer, message)

    def encode(self, results, *parts):
        """Writes a message. Other objects than results go by number only if they have one."""
        return Encoder(functools.partial(self.number, results)).message(*parts)

    def number(self, results, out, value, place, depth):
        known = self.numbers.get(id(value))
        kind = kind_of(value)
        if known is None and kind in ("o", "n") and not any(value is r for r in results):
            return False
        if known is None:
            self.last += 1
            known = self.numbers[id(value)] = self.last
            self.objects[known] = value
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

    def serve(self):
        """Answers requests until the grader ends."""
        while True:
            data = receive(self.reader)
            if data is None:
                os._exit(0)
            self.respond(data)

    def respond(self, data):
        try:
            request = Reader(data, self.stub, sys.maxsize).get(0)
            for number in request[0]:
                self.numbers.pop(id(self.objects.pop(number, None)), None)
                self.made.discard(number)
            message = self.answer(getattr(self, "do_" + request[1])(*request[2:]), request[1] if request[1] == "import" else self.place(*request[1:4]))
        except BaseException as e:
            message = self.failure(e)
        self.send(message)

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
        self.last += 1
        self.objects[self.last] = module
        return self.last, [str(n) for n in names]

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
            self.number((value,), bytearray(), value, "", 0)
            self.made.add(self.numbers[id(value)])
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
        if method == "__contains__":
            return args[0] in value
        if method == "__iter__":
            return iter(value)
        return getattr(type(value), method)(value, *args)

    def do_isinstance(self, cls, number):
        return isinstance(self.objects[number], self.objects[cls])

    # What the grader passes.

    def stub(self, tag, reader):
        if tag == b"h":
            return self.objects[reader.number()]
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
            self.send(self.encode((), ("call", ""), (number, ""), (args, place), (kwargs, place)))
            return self.listen()

    def listen(self):
        while True:
            data = receive(self.reader)
            if data is None:
                os._exit(0)
            if data[:1] != b"t" or data[9:10] != b"s":  # a request begins with a tuple of numbers
                self.respond(data)
                continue
            answer = Reader(data, self.stub, sys.maxsize).get(0)
            if answer[0] == "value":
                return answer[1]
            raise grader_error(*answer[1:])


class Function:
    """A function that the grader passed."""

    def __init__(self, server, number):
        self._server, self._number = server, number

    def __call__(self, *args, **kwargs):
        return self._server.call(self._number, args, kwargs)


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


def main():
    if sys.argv[1:] == ["--probe"]:
        sys.exit(confine([], [], [os.path.dirname(os.path.dirname(sys.path[0]))]))
    reader, writer = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(reader, False)
    os.set_inheritable(writer, False)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    workspace, submission = os.path.dirname(here), os.path.join(here, "submission")
    own, readable, private, path, argv = Reader(receive(reader), None, sys.maxsize).get(0)
    sys.path[:] = search_path(path, workspace, submission)
    why = confine([own], [submission, os.path.dirname(os.path.abspath(__file__)), *readable], private)
    server = Server(reader, writer, submission, path)
    send(writer, Encoder().message((why, "")))
    if why is None:
        sys.argv[:] = argv
        sys.dont_write_bytecode = True
        sys.modules.pop("__main__", None)
        sys.modules["__main__"] = types.ModuleType("__main__")
        server.serve()


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
