"""Tests of values.py: every value is read as it was written, and no bytes do any harm."""

import array
import collections
import datetime
import decimal
import fractions
import pathlib
import random
import struct
import sys
import tracemalloc

sys.path.insert(0, sys.argv[1])
from fevalgraph_separate import values
from fevalgraph_separate.values import CannotCross, Encoder, Malformed, Reader


def write(value):
    return bytes(Encoder().message((value, "value")))


def read(data, **limits):
    return Reader(data, **limits).all()[0]


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return a == b


LEAVES = [
    lambda r: None, lambda r: r.random() < 0.5, lambda r: r.getrandbits(r.choice([1, 8, 63, 64, 65, 900])) * r.choice([1, -1]),
    lambda r: r.choice([0.0, -0.0, float("inf"), float("nan"), r.random(), -1e300]), lambda r: complex(r.random(), -1),
    lambda r: "".join(chr(r.choice([0, 65, 10, 0xD800, 0x1F600])) for _ in range(r.randrange(6))), lambda r: r.randbytes(r.randrange(9)),
    lambda r: bytearray(r.randbytes(4)), lambda r: range(r.randrange(9), -(1 << 70), -3), lambda r: decimal.Decimal(r.randrange(999)) / 7,
    lambda r: fractions.Fraction(r.randrange(9), 7), lambda r: datetime.date(2024, 2, 29), lambda r: datetime.timedelta(r.randrange(9), 1, 5),
    lambda r: datetime.datetime(2024, 2, 29, 1, 2, 3, 4, datetime.timezone.utc), lambda r: datetime.time(1, 2), lambda r: pathlib.Path("a/\udcff"),
    lambda r: array.array(r.choice("bBhHiIlLqQfd"), [1, 2, 3]), lambda r: [r.getrandbits(40) for _ in range(20)], lambda r: tuple(r.random() for _ in range(20)),
]


def random_value(r, depth=0):
    kind = r.randrange(9) if depth < 5 else 9
    if kind == 0:
        return [random_value(r, depth + 1) for _ in range(r.randrange(5))]
    if kind == 1:
        return tuple(random_value(r, depth + 1) for _ in range(r.randrange(5)))
    if kind == 2:
        return {r.choice([str(i), i, (i, "x")]): random_value(r, depth + 1) for i in range(r.randrange(5))}
    if kind == 3:
        return r.choice([set, frozenset])(r.getrandbits(70) for _ in range(r.randrange(5)))
    return r.choice(LEAVES)(r)


def round_trips():
    r = random.Random(1)
    for i in range(4000):
        value = random_value(r)
        assert same(read(write(value)), value), value
    assert same(read(write(collections.Counter("aab"))), {"a": 2, "b": 1})
    assert same(read(write(memoryview(b"ab"))), b"ab")


class Any(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def refusals():
    deep = loop = []
    for _ in range(values.MAX_DEPTH + 1):
        deep = [deep]
    loop.append(loop)
    for value in (object(), Any(1), [1, {"a": Any(1)}], type("L", (list,), {})(), collections.namedtuple("P", "x")(1), {1: {2: print}}, deep, loop,
                  1 << (8 * values.MAX_NUMBER + 8), slice(1), sys):
        try:
            write(value)
        except CannotCross as e:
            assert "value" in str(e), e
            continue
        raise AssertionError(f"{value!r} was written")
    try:
        write([1, {"a": [Any(1)]}])
    except CannotCross as e:
        assert "value[1]['a'][0]" in str(e) and "__main__.Any" in str(e), e


def hostile(rounds):
    """Damaged and random messages: what is read is plain, or the error is Malformed."""
    r = random.Random(2)
    for i in range(rounds):
        data = bytearray(write(random_value(r)))
        for _ in range(r.randrange(1, 6)):
            at = r.randrange(len(data))
            change = r.randrange(4)
            if change == 0:
                data[at] = r.randrange(256)
            elif change == 1:
                del data[at:at + r.randrange(1, 9)]
            elif change == 2:
                data[at:at] = r.choice([r.randbytes(4), bytes(values._READ), b"\xff" * 8])
            else:
                data[at] = r.choice(list(values._READ))
            if not data:
                break
        try:
            value = Reader(data).all()
        except Malformed:
            continue
        Encoder().put(value, "value", 0)  # only what is plain can be written again


def bounds():
    """Small messages take little memory, whatever they claim."""
    size = lambda n: struct.pack("<Q", n)
    tuple_of = lambda *parts: b"t" + size(len(parts)) + b"".join(parts)
    for part in (b"l" + size(1 << 60), b"d" + size(1 << 60), b"s" + size(1 << 60), b"pl" + b"q" + size(1 << 60), b"A" + size(3) + b"<f8" + size(1) + size(1 << 60) + size(0),
                 b"A" + size(3) + b"<f8" + size(1 << 60), b"A" + size(2) + b"|O" + size(0), b"I" + size(1 << 40), b"yZ" + size(0), b"l" + size(1) * 5000,
                 (b"l" + size(1)) * 200 + b"N", b"D" + size(7) + b"1e99999", b"h" + size(1), b"S" + size(1) + b"l" + size(0), b"d" + size(2) + b"NNNN"):
        tracemalloc.start()
        try:
            read(tuple_of(part))
        except Malformed:
            pass
        else:
            assert part[:1] == b"D", part
        assert tracemalloc.get_traced_memory()[1] < 1 << 20, part
        tracemalloc.stop()
    try:
        read(tuple_of(b"l" + size(100) + b"N" * 100), limit=50)
    except Malformed:
        return
    raise AssertionError("more values than the limit were read")


round_trips()
refusals()
hostile(int(sys.argv[2]))
bounds()
print("ok")
