"""Values in messages between the grader and the submission's process.

Encoder writes and Reader reads a format of their own. Nothing that is read is believed: sizes,
counts and depth are bounded, and only plain data comes of it. What is not plain is left to
their callers.
"""

import array
import collections
import datetime
import decimal
import fractions
import os
import pathlib
import re
import struct
import sys

MAX_MESSAGE = 256 << 20  # bytes that the grader takes of one message
MAX_VALUES = 10_000_000  # in one message: small ones are larger in memory
MAX_DEPTH = 100          # of lists in lists, and of calls in calls
MAX_NUMBER = 1 << 16     # bytes of a whole number
MAX_NAME = 200           # characters of a name


class CannotCross(TypeError):
    """A value cannot be passed between the grader and the submission."""


class SubmissionError(Exception):
    """Code of the submission raised an exception, or its process ended."""


class Malformed(SubmissionError):
    """A message of the submission's process has no meaning."""


_I64 = struct.Struct("<q")
_U64 = struct.Struct("<Q")
_F64 = struct.Struct("<d")
_C128 = struct.Struct("<dd")
_PACKED = {int: "q", float: "d"}
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f(2|4|8|16)|c(8|16|32)|[SU]\d{1,9}|[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?)")


def describe(value):
    """Returns a type's name for messages."""
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ in ("builtins", None) else f"{kind.__module__}.{kind.__qualname__}"
    return name[:MAX_NAME]


class Encoder:
    """Writes a value as bytes. Types are compared exactly: an object whose class derives from
    a plain one is not plain. other(out, value, place, depth) writes what is not plain, or
    returns False."""

    def __init__(self, other=None):
        self.out = bytearray()
        self.other = other

    def message(self, *parts):
        """Returns the bytes of a tuple of values, given as pairs with what errors call them."""
        self.count(b"t", len(parts))
        for value, place in parts:
            self.put(value, place, 0)
        return self.out

    def count(self, tag, n):
        self.out += tag
        self.out += _U64.pack(n)

    def blob(self, tag, data):
        self.count(tag, len(data))
        self.out += data

    def put(self, v, place, depth):
        kind = type(v)
        out = self.out
        if depth > MAX_DEPTH:
            raise CannotCross(f"{place[:MAX_NAME]} is nested deeper than {MAX_DEPTH} levels, or refers to itself")
        if v is None:
            out += b"N"
        elif kind is bool:
            out += b"T" if v else b"F"
        elif kind is int:
            if -1 << 63 <= v < 1 << 63:
                out += b"i" + _I64.pack(v)
            else:
                data = v.to_bytes((v.bit_length() + 8) // 8, "little", signed=True)
                if len(data) > MAX_NUMBER:
                    raise CannotCross(f"{place} is a number of more than {MAX_NUMBER} bytes")
                self.blob(b"I", data)
        elif kind is float:
            out += b"f" + _F64.pack(v)
        elif kind is str:
            self.blob(b"s", v.encode("utf-8", "surrogatepass"))
        elif kind is bytes:
            self.blob(b"b", v)
        elif kind is list or kind is tuple:
            self.sequence(b"l" if kind is list else b"t", v, place, depth)
        elif kind is dict:
            self.count(b"d", len(v))
            for key, value in v.items():
                self.put(key, f"the key {key!r} of {place}" if type(key) is str else f"a key of {place}", depth + 1)
                self.put(value, f"{place}[{key!r}]" if type(key) in (str, int) else f"a value of {place}", depth + 1)
        elif kind is set or kind is frozenset:
            self.count(b"S" if kind is set else b"Z", len(v))
            for value in v:
                self.put(value, f"an element of {place}", depth + 1)
        elif not self.rare(v, kind, place, depth) and not (self.other and self.other(out, v, place, depth)):
            raise CannotCross(f"{place} is an object of the class {describe(v)}, which cannot be passed between the grader and the submission's process; "
                              "numbers, texts, bytes, arrays, and lists, tuples, sets and dicts of them can")

    def sequence(self, tag, v, place, depth):
        if len(v) > 8:  # many numbers take one step
            kinds = set(map(type, v))
            code = len(kinds) == 1 and _PACKED.get(kinds.pop())
            if code:
                try:
                    packed = array.array(code, v)
                except OverflowError:
                    packed = None
                if packed is not None:
                    if sys.byteorder == "big":
                        packed.byteswap()
                    self.out += b"p" + tag + code.encode()
                    self.out += _U64.pack(len(packed))
                    self.out += packed.tobytes()
                    return
        self.count(tag, len(v))
        for i, value in enumerate(v):
            kind = type(value)
            if kind is int or kind is str or kind is float or kind is bool:
                self.put(value, place, depth + 1)  # without a place of its own, which takes longer than the value
            else:
                self.put(value, f"{place}[{i}]", depth + 1)

    def rare(self, v, kind, place, depth):
        if kind is complex:
            self.out += b"c" + _C128.pack(v.real, v.imag)
        elif kind is bytearray:
            self.blob(b"a", v)
        elif kind is memoryview:
            self.blob(b"b", v.tobytes())
        elif kind is array.array and v.typecode != "u":
            self.blob(b"y" + v.typecode.encode(), v.tobytes())
        elif kind is range:
            self.out += b"r"
            for n in (v.start, v.stop, v.step):
                self.put(n, place, depth + 1)
        elif kind is decimal.Decimal:
            self.blob(b"D", str(v).encode())
        elif kind is fractions.Fraction:
            self.out += b"Q"
            self.put(v.numerator, place, depth + 1)
            self.put(v.denominator, place, depth + 1)
        elif kind in (datetime.date, datetime.time, datetime.datetime) and getattr(v, "fold", 0) == 0 and type(getattr(v, "tzinfo", None)) in (type(None), datetime.timezone):
            self.blob({datetime.date: b"x0", datetime.time: b"x1", datetime.datetime: b"x2"}[kind], v.isoformat().encode())
        elif kind is datetime.timedelta:
            self.out += b"e"
            for n in (v.days, v.seconds, v.microseconds):
                self.put(n, place, depth + 1)
        elif kind in (collections.OrderedDict, collections.defaultdict, collections.Counter):
            self.put(dict(v.items()), place, depth)
        elif issubclass(kind, pathlib.PurePath):
            self.blob(b"P", os.fsencode(str(v)))
        else:
            return self.numpy(v, kind, place)
        return True

    def numpy(self, v, kind, place):
        np = sys.modules.get("numpy")
        if np is None or not (kind is np.ndarray or (issubclass(kind, np.generic) and kind.__module__ == "numpy")):
            return False
        data = np.asarray(v)
        if not _DTYPE.fullmatch(data.dtype.str):
            raise CannotCross(f"{place} is an array of the type {str(data.dtype)[:MAX_NAME]}, which cannot be passed between the grader and the submission's process; "
                              "arrays of numbers, texts and times can")
        self.out += b"A" if kind is np.ndarray else b"G"
        self.blob(b"", data.dtype.str.encode())
        self.count(b"", data.ndim)
        for n in data.shape:
            self.out += _U64.pack(n)
        self.blob(b"", np.ascontiguousarray(data).reshape(-1).view(np.uint8).data if data.nbytes else b"")
        return True


class Reader:
    """Reads a value from the bytes of a hostile sender. stub(tag, reader) makes what stands
    for an object of the other process, or raises Malformed."""

    def __init__(self, data, stub=None, limit=MAX_VALUES):
        self.data = memoryview(data)
        self.at = 0
        self.left = limit
        self.stub = stub

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Malformed("a message of the submission's process ends early")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self):
        return _U64.unpack(self.take(8))[0]

    def spend(self, n, size=1):
        """Counts values, each of at least size bytes."""
        self.left -= n
        if self.left < 0 or n * size > len(self.data) - self.at:
            raise Malformed("a message of the submission's process has too many values")
        return n

    def blob(self, limit=None):
        n = self.number()
        if limit is not None and n > limit:
            raise Malformed("a message of the submission's process has a name or number that is too long")
        return self.take(n)

    def text(self, limit=None):
        return str(self.blob(limit), "utf-8", "surrogatepass")

    def whole(self, depth):
        v = self.get(depth)
        if type(v) is not int:
            raise Malformed("a message of the submission's process has no number where one belongs")
        return v

    def all(self):
        try:
            v = self.get(0)
        except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError) as e:
            raise Malformed(f"a message of the submission's process cannot be read: {type(e).__name__}") from None
        if self.at != len(self.data):
            raise Malformed("a message of the submission's process goes on after its end")
        return v

    def get(self, depth):
        if depth > MAX_DEPTH + 1:
            raise Malformed("a message of the submission's process is nested too deeply")
        self.spend(1)
        tag = self.take(1)[0]
        read = _READ.get(tag)
        if read is not None:
            return read(self, depth)
        if self.stub is None:
            raise Malformed(f"a message of the submission's process has the unknown tag {tag}")
        return self.stub(bytes((tag,)), self)

    def packed(self, depth):
        tag, code = bytes(self.take(1)), bytes(self.take(1))
        if tag not in (b"l", b"t") or code not in (b"q", b"d"):
            raise Malformed("a message of the submission's process has numbers of an unknown kind")
        n = self.spend(self.number(), 8)
        values = array.array(code.decode(), bytes(self.take(8 * n)))
        if sys.byteorder == "big":
            values.byteswap()
        return values.tolist() if tag == b"l" else tuple(values)

    def items(self, depth):
        return [self.get(depth + 1) for _ in range(self.spend(self.number()))]

    def mapping(self, depth):
        n = self.number()
        self.spend(n, 2)
        result = {}
        for _ in range(n):
            key = self.get(depth + 1)
            result[key] = self.get(depth + 1)
        if len(result) != n:
            raise Malformed("a message of the submission's process has a dict with a key twice")
        return result

    def array(self, depth):
        code = bytes(self.take(1)).decode("ascii")
        return array.array(code, bytes(self.blob()))

    def ranged(self, depth):
        return range(*(self.whole(depth + 1) for _ in range(3)))

    def fraction(self, depth):
        return fractions.Fraction(self.whole(depth + 1), self.whole(depth + 1))

    def decimal(self, depth):
        return decimal.Decimal(str(self.blob(MAX_NUMBER), "ascii"))

    def when(self, depth):
        kind = {b"0": datetime.date, b"1": datetime.time, b"2": datetime.datetime}.get(bytes(self.take(1)))
        if kind is None:
            raise Malformed("a message of the submission's process has a time of an unknown kind")
        return kind.fromisoformat(str(self.blob(MAX_NAME), "ascii"))

    def span(self, depth):
        return datetime.timedelta(*(self.whole(depth + 1) for _ in range(3)))

    def ndarray(self, depth, scalar=False):
        try:
            import numpy as np
        except ImportError:
            raise Malformed("a message of the submission's process has an array, for which there is no numpy here") from None
        name = str(self.blob(MAX_NAME), "ascii")
        if not _DTYPE.fullmatch(name):
            raise Malformed("a message of the submission's process has an array of an unknown type")
        dtype, shape, n = np.dtype(name), [], 1
        for _ in range(self.spend(self.number(), 8)):
            shape.append(self.number())
            n *= shape[-1]
        data = self.blob()
        if len(shape) > 32 or n * dtype.itemsize != len(data):
            raise Malformed("a message of the submission's process has an array of another size than it says")
        v = np.frombuffer(bytearray(data), dtype).reshape(shape) if data else np.zeros(shape, dtype)
        return v[()] if scalar else v


_READ = {
    ord("N"): lambda r, d: None,
    ord("T"): lambda r, d: True,
    ord("F"): lambda r, d: False,
    ord("i"): lambda r, d: _I64.unpack(r.take(8))[0],
    ord("I"): lambda r, d: int.from_bytes(r.blob(MAX_NUMBER), "little", signed=True),
    ord("f"): lambda r, d: _F64.unpack(r.take(8))[0],
    ord("c"): lambda r, d: complex(*_C128.unpack(r.take(16))),
    ord("s"): lambda r, d: r.text(),
    ord("b"): lambda r, d: bytes(r.blob()),
    ord("a"): lambda r, d: bytearray(r.blob()),
    ord("l"): lambda r, d: r.items(d),
    ord("t"): lambda r, d: tuple(r.items(d)),
    ord("d"): Reader.mapping,
    ord("S"): lambda r, d: set(r.items(d)),
    ord("Z"): lambda r, d: frozenset(r.items(d)),
    ord("p"): Reader.packed,
    ord("y"): Reader.array,
    ord("r"): Reader.ranged,
    ord("Q"): Reader.fraction,
    ord("D"): Reader.decimal,
    ord("x"): Reader.when,
    ord("e"): Reader.span,
    ord("P"): lambda r, d: pathlib.Path(os.fsdecode(bytes(r.blob(1 << 16)))),
    ord("A"): Reader.ndarray,
    ord("G"): lambda r, d: r.ndarray(d, True),
}


class Channel:
    """The two pipes of one conversation, whose requests are nested and not concurrent. After
    an interruption neither side knows how much of a message was passed, so the channel is closed,
    and the next request has another: no answer is taken for that of a later request."""

    def __init__(self, number, reader, writer, main):
        self.number, self.reader, self.writer = number, reader, writer
        self.main = main  # whether the submission's main thread answers
        self.depth = 0  # of requests that are not answered
        self.closed = False
        self.abandoned = False  # by the grader

    def close(self):
        if not self.closed:
            self.closed = True
            fds = self.reader, self.writer
            self.reader = self.writer = -1  # these numbers will be other files
            for fd in fds:
                os.close(fd)


# Messages of the control socket: what to do, and the number of a channel. Those that open one
# carry its descriptors: OPEN_MAIN for the main thread, the only one that can handle signals.
CONTROL = struct.Struct("<cQ")
OPEN_MAIN, OPEN, ABANDON = b"m", b"o", b"a"


def send(fd, message):
    """Writes a message to a pipe."""
    left = memoryview(_U64.pack(len(message)) + message if len(message) < 1 << 16 else _U64.pack(len(message)))
    for part in (left, memoryview(message)) if len(message) >= 1 << 16 else (left,):
        while part:
            part = part[os.write(fd, part):]


def receive(fd, limit=None):
    """Returns the next message of a pipe, or None at its end. Memory grows with what has come."""
    data, wanted = bytearray(), 8
    header = True
    while True:
        while len(data) < wanted:
            chunk = os.read(fd, min(wanted - len(data), 1 << 20))
            if not chunk:
                return None
            data += chunk
        if not header:
            return data
        wanted, header = _U64.unpack(data)[0], False
        if limit is not None and wanted > limit:
            raise Malformed(f"the submission's process sends a value of {wanted} bytes, more than the {limit >> 20} MiB that the grader takes")
        data = bytearray()
