"""Encodes and decodes the frames of docs/bridge.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from . import checks

MAGIC, VERSION = b"NICTWIN\0", 3
OPEN, HELLO, START, INPUT, RUN, RAN, ERROR, STOP = range(1, 9)
MAX_FRAME, MAX_CYCLES, MAX_DATA = 64 << 20, 1 << 20, 1 << 20
MIN_PERIOD, MAX_PERIOD = 2, 10**9  # period of a clock, in ps
UNLIMITED = 0xFFFFFFFF
KINDS = ("axis", "tlp", "record", "level")
TAKEN, OUTPUT, BROKEN, BUSY, HELD = range(1, 6)  # kinds of records
QUIET, PARTIAL, MORE, STILL = 1, 2, 4, 8  # flags of RAN
ERRORS = ("", "protocol", "version", "token", "limit", "assertion", "finish", "internal", "idle", "link")


class BridgeError(Exception):
    """The device or the connection failed. name is that of the error in docs/bridge.md, or "closed" or "timeout"."""

    def __init__(self, name: str, text: str, cycle: int = 0) -> None:
        super().__init__(f"{name}: {text}")
        self.name, self.cycle = name, cycle


@dataclass(frozen=True)
class Stream:
    name: str
    index: int
    kind: str  # one of KINDS
    out: bool
    keep_unit: int
    has_ready: bool
    beat_bytes: int
    side_bytes: int
    clock: int
    fields: dict[str, int]  # widths in bits of the fields of the side bytes, in order

    def pack(self, values: dict[str, int]) -> bytes:
        """Encodes fields as side bytes; fields that are not named are zero."""
        if unknown := sorted(values.keys() - self.fields.keys()):
            fields = ", ".join(self.fields) or "none"
            raise ValueError(f"stream {self.name}: no field {', '.join(unknown)}; it has {fields}")
        side = b""
        for name, bits in self.fields.items():
            value = checks.whole(f"stream {self.name}: field {name}", values.get(name, 0), 0, (1 << bits) - 1)
            side += value.to_bytes((bits + 7) // 8, "little")
        return side

    def parted(self, data: bytes | int, fields: dict[str, int]) -> tuple[bytes, dict[str, int]]:
        """Returns packet and fields of a transaction. A number given as data is the field data of a record or level."""
        if isinstance(data, int) and type(data) is not bool:
            if self.kind not in ("record", "level") or "data" not in self.fields:
                raise ValueError(
                    f"stream {self.name}: data is the number {data}: "
                    f"a stream of kind {self.kind} without a field data wants bytes or nothing"
                )
            return b"", {**fields, "data": data}
        return checks.octets(f"stream {self.name}: data", data), fields

    def unpack(self, side: bytes) -> dict[str, int]:
        values, at = {}, 0
        for name, bits in self.fields.items():
            values[name] = int.from_bytes(side[at : at + (bits + 7) // 8], "little")
            at += (bits + 7) // 8
        return values


@dataclass(frozen=True)
class Hello:
    build_hash: bytes
    max_frame: int
    busy: int  # index of the observed signal, -1: none
    clocks: dict[str, int]  # periods in ps
    streams: dict[str, Stream]
    observed: list[str]
    tie_offs: dict[str, int]
    tie_bits: dict[str, int]  # bit widths of the tie-offs, by name


@dataclass(frozen=True)
class Record:
    """An event on a stream; first and last are cycles. An output has data, and fields by name."""

    kind: int  # TAKEN, OUTPUT, BROKEN, BUSY or HELD
    stream: str
    flags: int
    rule: int
    ordinal: int
    first: int
    last: int
    data: bytes
    fields: dict[str, int]


@dataclass
class Ran:
    quantum: int
    start: int
    cycles: int
    flags: int
    observed: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)


class Reader:
    """Reads fields from a payload; bytes that do not fit are a protocol error."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.at, self.name = data, 0, name

    def check(self, ok: bool, what: str) -> None:
        if not ok:
            raise BridgeError("protocol", f"{self.name}: {what}")

    def fields(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.raw(struct.calcsize("<" + layout)))

    def raw(self, n: int) -> bytes:
        self.check(self.at + n <= len(self.data), f"{n} bytes are wanted at byte {self.at}, it has {len(self.data)}")
        self.at += n
        return self.data[self.at - n : self.at]

    def padded(self, n: int) -> bytes:
        return self.raw(n + -n % 8)[:n]

    def name_of(self, n: int) -> str:
        return self.padded(n).decode(errors="replace")

    def end(self) -> None:
        self.check(self.at == len(self.data), f"{len(self.data) - self.at} bytes too many")


def pad(b: bytes) -> bytes:
    return b + bytes(-len(b) % 8)


def is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535


def timing(name: str, given: Any, first: bool) -> tuple[int, int]:
    """Period and phase of a clock. Cycles are those of the first one, which has no phase."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"clock {name} is {checks.shown(given)}: want its period and its phase, two numbers in ps")
    period = checks.whole(f"period of clock {name}", given[0], MIN_PERIOD, MAX_PERIOD)
    return period, checks.whole(f"phase of clock {name}", given[1], 0, 0 if first else period - 1)


def frame(kind: int, payload: bytes = b"") -> bytes:
    return struct.pack("<IHH", len(payload), kind, 0) + payload


def open_frame(token: bytes) -> bytes:
    if len(token) != 32:
        raise ValueError(f"the token has {len(token)} bytes, not 32")
    return frame(OPEN, MAGIC + struct.pack("<HHI", VERSION, VERSION, 0) + token)


def transaction(s: Stream, data: bytes, side: bytes, cycle: int) -> bytes:
    if s.out:
        raise ValueError(f"stream {s.name} is an output of the device")
    misfit = s.kind in ("record", "level") and data or s.kind == "axis" and not data
    if misfit or len(data) > MAX_DATA or s.keep_unit > 1 and len(data) % s.keep_unit:
        raise ValueError(f"stream {s.name}: {len(data)} bytes of data do not go over a stream of kind {s.kind}; "
                         f"packets have 1 to {MAX_DATA}")
    return struct.pack("<BBHIQ", 1, s.index, len(side), len(data), cycle) + pad(side) + pad(data)


def decode_hello(payload: bytes) -> Hello:
    r = Reader(payload, "HELLO")
    magic, version, streams, observed, ties = r.fields("8sHHHH")
    r.check(magic == MAGIC, f"magic {magic!r}, not {MAGIC!r}")
    if version != VERSION:
        raise BridgeError("version", f"the device speaks version {version} of the bridge, this client {VERSION}")
    build, clocks, largest, busy = r.fields("32sQIi")
    r.check(
        1 <= clocks <= 8 and 1 <= streams <= 64 and observed <= 64 and ties <= 256,
        f"{clocks} clocks, {streams} streams, {observed} observed signals, {ties} tie-offs",
    )
    rates = {}
    for _ in range(clocks):
        period, n = r.fields("QQ")
        r.check(MIN_PERIOD <= period <= MAX_PERIOD and n <= len(payload), f"a clock with a period of {period} ps")
        rates[r.name_of(n)] = period
    table: dict[str, Stream] = {}
    for i in range(streams):
        kind, out, unit, ready, beat, side, n, nfields, clock = r.fields("BBBBIHHHH")
        r.check(
            kind < len(KINDS) and out < 2 and ready < 2 and unit in (0, 1, 4) and clock < clocks,
            f"stream {i}: kind {kind}, direction {out}, keep unit {unit}, clock {clock}",
        )
        r.check(1 <= beat <= 2048 if kind < 2 else beat == 0, f"stream {i}: {beat} bytes a beat")
        name, fields = r.name_of(n), {}
        for _ in range(nfields):
            bits, length, _ = r.fields("HHI")
            fields[r.name_of(length)] = bits
        r.check(
            all(fields.values()) and sum((b + 7) // 8 for b in fields.values()) == side and len(fields) == nfields,
            f"stream {name}: its fields do not make {side} side bytes",
        )
        table[name] = Stream(name, i, KINDS[kind], bool(out), unit, bool(ready), beat, side, clock, fields)
    r.check(len(table) == streams, "two streams of one name")
    names, widths = [], []
    for _ in range(observed + ties):
        width, n, _ = r.fields("HHI")
        widths.append(width)
        names.append(r.name_of(n))
    r.end()
    tied = names[observed:]
    ties, tie_bits = {n: i for i, n in enumerate(tied)}, dict(zip(tied, widths[observed:]))
    return Hello(build, largest, busy, rates, table, names[:observed], ties, tie_bits)


def decode_ran(payload: bytes, hello: Hello) -> Ran:
    r = Reader(payload, "RAN")
    quantum, start, cycles, flags, _, count, observed, _ = r.fields("QQIIQIHH")
    r.check(cycles <= MAX_CYCLES and flags < 16, f"{cycles} cycles, flags {flags}")
    r.check(observed == len(hello.observed), f"{observed} observed signals, HELLO has {len(hello.observed)}")
    ran = Ran(quantum, start, cycles, flags, [r.fields("QQ")[0] for _ in range(observed)])
    streams = list(hello.streams.values())
    for _ in range(count):
        kind, stream, f, rule, n, ordinal, first, last = r.fields("BBBBIQQQ")
        what = (f"a record of kind {kind} on stream {stream} with {n} bytes, flags {f}, rule {rule}, "
                f"ordinal {ordinal}, cycles {first} to {last}")
        r.check(TAKEN <= kind <= HELD and stream < len(streams) and n <= MAX_DATA, what)
        s = streams[stream]
        r.check((kind == OUTPUT or n == 0) and (first <= last or kind == BROKEN), what)
        r.check((kind != TAKEN or not s.out and 1 <= f <= 3) and (kind != OUTPUT or s.out), what)
        r.check(kind < BUSY or not (f or rule or ordinal) and (kind == HELD or stream == 0), what)
        fields = s.unpack(r.padded(s.side_bytes)) if kind == OUTPUT else {}
        ran.records.append(Record(kind, s.name, f, rule, ordinal, first, last, r.padded(n), fields))
    r.end()
    return ran


def decode_error(payload: bytes) -> BridgeError:
    r = Reader(payload, "ERROR")
    code, n, cycle = r.fields("IIQ")
    r.check(1 <= code < len(ERRORS) and n <= 8192, f"code {code}, text of {n} bytes")
    text = r.name_of(n)
    r.end()
    return BridgeError(ERRORS[code], text, cycle)
