"""A client of the bridge to verilated RTL: docs/bridge.md, version 2, with the standard library alone."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass, field

MAGIC = b"NICTWIN\0"
VERSION = 2
OPEN, HELLO, START, INPUT, RUN, RAN, ERROR, STOP = range(1, 9)
MAX_FRAME = 64 << 20
UNLIMITED = 0xFFFFFFFF
ERRORS = {1: "protocol", 2: "version", 3: "token", 4: "limit", 5: "assertion", 6: "finish", 7: "internal", 8: "idle"}


class BridgeError(Exception):
    """The device or the connection failed; name is the error's in docs/bridge.md, or "closed" or "timeout"."""

    def __init__(self, name: str, text: str, cycle: int = 0) -> None:
        super().__init__(f"{name}: {text}")
        self.name, self.cycle = name, cycle


@dataclass(frozen=True)
class Stream:
    name: str
    index: int
    tlp: bool
    out: bool
    keep_unit: int
    has_ready: bool
    beat_bytes: int
    side_bytes: int


@dataclass(frozen=True)
class Hello:
    build_hash: bytes
    period_ps: int
    max_frame: int
    streams: dict[str, Stream]
    observed: list[str]
    tie_offs: dict[str, int]


@dataclass(frozen=True)
class Record:
    """One record of RAN; kind 1 is an input accepted, 2 an output, 3 a broken rule, 4 idle time, 5 held time."""

    kind: int
    stream: int
    flags: int
    rule: int
    ordinal: int
    first: int
    last: int
    side: bytes = b""
    data: bytes = b""


@dataclass
class Ran:
    quantum: int
    start: int
    cycles: int
    flags: int
    observed: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)


class _Reader:
    """Takes fields off a payload; one that is too short is a protocol error."""

    def __init__(self, data: bytes, frame: str) -> None:
        self.data, self.at, self.frame = data, 0, frame

    def fields(self, layout: str) -> tuple:
        return struct.unpack("<" + layout, self.raw(struct.calcsize("<" + layout)))

    def raw(self, n: int) -> bytes:
        if self.at + n > len(self.data):
            raise BridgeError("protocol", f"{self.frame} is truncated at byte {self.at}")
        self.at += n
        return self.data[self.at - n : self.at]

    def padded(self, n: int) -> bytes:
        return self.raw(n + -n % 8)[:n]

    def end(self) -> None:
        if self.at != len(self.data):
            raise BridgeError("protocol", f"{self.frame} has {len(self.data) - self.at} bytes too many")


def pad(b: bytes) -> bytes:
    return b + bytes(-len(b) % 8)


def frame(kind: int, payload: bytes = b"") -> bytes:
    return struct.pack("<IHH", len(payload), kind, 0) + payload


def encode_open(token: bytes) -> bytes:
    if len(token) != 32:
        raise ValueError(f"token has {len(token)} bytes, not 32")
    return frame(OPEN, MAGIC + struct.pack("<HHI", VERSION, VERSION, 0) + token)


def encode_transaction(stream: Stream, data: bytes, side: bytes, cycle: int) -> bytes:
    if stream.out:
        raise ValueError(f"stream {stream.name} is an output")
    if len(side) != stream.side_bytes:
        raise ValueError(f"stream {stream.name}: side has {len(side)} bytes, not {stream.side_bytes}")
    return struct.pack("<BBHIQ", 1, stream.index, len(side), len(data), cycle) + pad(side) + pad(data)


def decode_hello(payload: bytes) -> Hello:
    r = _Reader(payload, "HELLO")
    magic, version, streams, observed, ties = r.fields("8sHHHH")
    if magic != MAGIC:
        raise BridgeError("protocol", "HELLO has another magic")
    if version != VERSION:
        raise BridgeError("version", f"the device speaks version {version}, this client {VERSION}")
    build, period, largest, _busy = r.fields("32sQIi")
    table: dict[str, Stream] = {}
    for i in range(streams):
        tlp, out, unit, ready, beat, side, n, _ = r.fields("BBBBIHHI")
        name = r.padded(n).decode()
        table[name] = Stream(name, i, bool(tlp), bool(out), unit, bool(ready), beat, side)
    names = []
    for _ in range(observed + ties):
        _, n, _ = r.fields("HHI")
        names.append(r.padded(n).decode())
    r.end()
    return Hello(build, period, largest, table, names[:observed], {n: i for i, n in enumerate(names[observed:])})


def decode_ran(payload: bytes, hello: Hello) -> Ran:
    r = _Reader(payload, "RAN")
    quantum, start, cycles, flags, _, count, observed, _ = r.fields("QQIIQIHH")
    if observed != len(hello.observed):
        raise BridgeError("protocol", f"RAN has {observed} observed signals, HELLO {len(hello.observed)}")
    ran = Ran(quantum, start, cycles, flags, [r.fields("QQ")[0] for _ in range(observed)])
    streams = list(hello.streams.values())
    for _ in range(count):
        kind, stream, f, rule, n, ordinal, first, last = r.fields("BBBBIQQQ")
        if not 1 <= kind <= 5 or stream >= len(streams):
            raise BridgeError("protocol", f"RAN has a record of kind {kind} on stream {stream}")
        side = r.padded(streams[stream].side_bytes) if kind == 2 else b""
        data = r.padded(n) if kind == 2 else b""
        ran.records.append(Record(kind, stream, f, rule, ordinal, first, last, side, data))
    r.end()
    return ran


def decode_error(payload: bytes) -> BridgeError:
    r = _Reader(payload, "ERROR")
    code, n, cycle = r.fields("IIQ")
    text = r.padded(n).decode(errors="replace")
    r.end()
    return BridgeError(ERRORS.get(code, f"error {code}"), text, cycle)


class Device:
    """A session with a device that listens at unix:/path or tcp:host:port."""

    def __init__(self, address: str, token: bytes, timeout: float = 8.0) -> None:
        scheme, _, where = address.partition(":")
        self._timeout, self._inputs, self._cycle, self._quantum = timeout, [], 0, 0
        if scheme == "unix":
            self._sock = socket.socket(socket.AF_UNIX)
            self._sock.settimeout(timeout)
            self._sock.connect(where)
        elif scheme == "tcp":
            host, _, port = where.rpartition(":")
            self._sock = socket.create_connection((host, int(port)), timeout)
        else:
            raise ValueError(f"address {address}: want unix:/path or tcp:host:port")
        try:
            self._send(encode_open(token))
            self.hello = decode_hello(self._receive(HELLO))
        except BaseException:
            self._sock.close()
            raise

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, seed: int = 1, *, stall: int = 0, watchdog: int = 0, poison: bool = False,
              longest: int = 16384, tie_offs: dict[str, int] | None = None) -> None:
        """Powers the device up and takes it through reset; level inputs (tie-offs) hold for the run."""
        ties = tie_offs or {}
        if unknown := ties.keys() - self.hello.tie_offs.keys():
            raise ValueError(f"no tie-offs {sorted(unknown)}; the device has {sorted(self.hello.tie_offs)}")
        streams = self.hello.streams
        body = struct.pack("<QQQIHH", seed, watchdog, self.hello.period_ps, int(poison), len(streams), len(ties))
        for s in streams.values():
            body += struct.pack("<BBHIII", stall, 0, 0, UNLIMITED, longest, 0)
        for name, value in sorted(ties.items(), key=lambda t: self.hello.tie_offs[t[0]]):
            body += struct.pack("<HHIQ", self.hello.tie_offs[name], 0, 0, value)
        self._send(frame(START, body))
        self._inputs, self._cycle, self._quantum = [], 0, 0

    def send(self, stream: str, data: bytes, side: bytes = b"", cycle: int = 0) -> None:
        """Queues a transaction, offered from cycle on at the earliest."""
        if stream not in self.hello.streams:
            raise ValueError(f"no stream {stream}; the device has {sorted(self.hello.streams)}")
        self._inputs.append(encode_transaction(self.hello.streams[stream], data, side, max(cycle, self._cycle)))

    def advance(self, cycles: int) -> Ran:
        """Runs cycles (1 to 2^20) with what was queued and returns what crossed the pins."""
        if not 1 <= cycles <= 1 << 20:
            raise ValueError(f"cycles is {cycles}, not 1 to {1 << 20}")
        head = struct.pack("<QQII", self._quantum, self._cycle, cycles, len(self._inputs))
        self._send(frame(RUN, head + b"".join(self._inputs)))
        self._inputs = []
        limit = self._timeout + 20e-6 * cycles
        ran = decode_ran(self._receive(RAN, limit), self.hello)
        while ran.flags & 4:
            more = decode_ran(self._receive(RAN, limit), self.hello)
            more.records = ran.records + more.records
            ran = more
        self._cycle += cycles
        self._quantum += 1
        return ran

    def outputs(self, ran: Ran, stream: str) -> list[Record]:
        index = self.hello.streams[stream].index
        return [r for r in ran.records if r.kind == 2 and r.stream == index]

    def close(self) -> None:
        try:
            self._sock.sendall(frame(STOP))
        except OSError:
            pass  # the device has ended already
        self._sock.close()

    def _send(self, data: bytes) -> None:
        self._sock.settimeout(self._timeout)
        try:
            self._sock.sendall(data)
        except socket.timeout:
            raise BridgeError("timeout", f"the device took nothing for {self._timeout} s") from None

    def _receive(self, want: int, limit: float | None = None) -> bytes:
        until = time.monotonic() + (limit or self._timeout)
        n, kind, _ = struct.unpack("<IHH", self._exactly(8, until))
        if n > MAX_FRAME or n % 8:
            raise BridgeError("protocol", f"a frame has {n} bytes")
        payload = self._exactly(n, until)
        if kind == ERROR:
            raise decode_error(payload)
        if kind != want:
            raise BridgeError("protocol", f"frame of type {kind}, not {want}")
        return payload

    def _exactly(self, n: int, until: float) -> bytes:
        out = bytearray()
        while len(out) < n:
            self._sock.settimeout(max(until - time.monotonic(), 1e-3))
            try:
                got = self._sock.recv(n - len(out))
            except socket.timeout:
                raise BridgeError("timeout", "the device did not answer in time") from None
            if not got:
                raise BridgeError("closed", "the device ended the connection")
            out += got
        return bytes(out)
