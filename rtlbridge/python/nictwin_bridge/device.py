"""Implements a session with a device."""

from __future__ import annotations

import socket
import struct
import subprocess
import time

from . import checks, frames as f
from .frames import BridgeError, Ran, Record


class Device:
    """A session with a device that listens at unix:/path or tcp:host:port, or, by launch, with a program that it
    starts."""

    def __init__(self, address: str, token: bytes, timeout: float = 8.0) -> None:
        timeout, token = checks.seconds("timeout", timeout), checks.octets("token", token)
        opening = f.open_frame(token)
        scheme, _, where = checks.words("address", address).partition(":")
        if scheme == "unix":
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(timeout)
            sock.connect(where)
        elif scheme == "tcp" and f.is_port(where.rpartition(":")[2]):
            host, _, port = where.rpartition(":")
            sock = socket.create_connection((host, int(port)), timeout)
        else:
            raise ValueError(f"address {address[:60]}: want unix:/path or tcp:host:port")
        self._begin(sock, opening, timeout, None)

    @classmethod
    def launch(cls, program: str, timeout: float = 8.0) -> Device:
        """Starts the program whose path nictwin dut build prints."""
        timeout = checks.seconds("timeout", timeout)
        self, (ours, theirs) = cls.__new__(cls), socket.socketpair()
        with theirs:
            child = subprocess.Popen([program, "--fd", str(theirs.fileno())], pass_fds=[theirs.fileno()])
        self._begin(ours, f.open_frame(bytes(32)), timeout, child)
        return self

    def _begin(self, sock: socket.socket, opening: bytes, timeout: float,
               child: subprocess.Popen[bytes] | None) -> None:
        self._sock, self._timeout, self._child = sock, timeout, child
        self._inputs: list[bytes] = []
        self._outputs: dict[str, list[Record]] = {}
        self.cycle, self._quantum, self._started = 0, 0, False
        try:
            self._send(opening)
            self.hello = f.decode_hello(self._receive(f.HELLO, timeout))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, seed: int = 1, *, stall: int = 0, burst: int = 0, watchdog: int = 0, poison: bool = False,
              longest: int = 16384, clocks: dict[str, tuple[int, int]] | None = None,
              tie_offs: dict[str, int] | None = None) -> None:
        """Powers the device up and takes it through reset.

        stall: percent of cycles in which streams stall; burst: one draw decides for 2^burst cycles; watchdog: cycles
        after which a stuck stream is reported, 0: never; poison: drive noise on idle inputs; longest: bytes of the
        longest transaction; clocks: period and phase in ps, by name; tie_offs: values, by name."""
        h, ties, rates = self.hello, checks.table("tie_offs", tie_offs), checks.table("clocks", clocks)
        seed, watchdog = checks.whole("seed", seed), checks.whole("watchdog", watchdog)
        poison = checks.flag("poison", poison)
        stall, burst = checks.whole("stall", stall, 0, 100), checks.whole("burst", burst, 0, 16)
        longest = checks.whole("longest", longest, 1, f.MAX_DATA)
        for given, known, what in ((ties, h.tie_offs, "tie-off"), (rates, h.clocks, "clock")):
            if unknown := [n for n in given if n not in known]:
                name = unknown[0] if isinstance(unknown[0], str) else checks.shown(unknown[0])
                raise ValueError(f"no {what} {name}; the device has {', '.join(known) or 'none'}")
        timing = [
            f.timing(name, rates.get(name, (period, 0)), first=i == 0)
            for i, (name, period) in enumerate(h.clocks.items())
        ]
        ties = {
            name: checks.whole(f"tie-off {name}", value, 0, (1 << min(h.tie_bits[name], 64)) - 1)
            for name, value in ties.items()
        }
        body = struct.pack("<QQQIHH", seed, watchdog, timing[0][0], int(poison), len(h.streams), len(ties))
        for s in h.streams.values():
            body += struct.pack("<BBHIII", 0 if s.out and not s.has_ready else stall, burst, 0, f.UNLIMITED, longest, 0)
        body += b"".join(struct.pack("<QQ", *t) for t in timing[1:])
        for name in sorted(ties, key=lambda n: h.tie_offs[n]):
            body += struct.pack("<HHIQ", h.tie_offs[name], 0, 0, ties[name])
        self._send(f.frame(f.START, body))
        self._inputs, self.cycle, self._quantum, self._started = [], 0, 0, True
        self._outputs = {s.name: [] for s in h.streams.values() if s.out}

    def send(self, stream: str, data: bytes | int = b"", cycle: int = 0, **fields: int) -> None:
        """Queues a transaction of an input, offered from cycle on at the earliest; of a level, its values from then on.

        data is the packet, or the field of that name where a record or level has one."""
        s = self.hello.streams.get(checks.words("stream", stream))
        cycle = checks.whole("cycle", cycle)
        if s is None:
            raise ValueError(f"no stream {stream}; the device has {', '.join(self.hello.streams)}")
        packet, values = s.parted(data, fields)
        self._inputs.append(f.transaction(s, packet, s.pack(values), max(cycle, self.cycle)))

    def reset(self, cycle: int = 0) -> None:
        """Asserts the resets from cycle on, as long as after power-up; transactions not yet taken are dropped."""
        cycle = checks.whole("cycle", cycle)
        self._inputs.append(struct.pack("<BBHIQ", 3, 0, 0, 0, max(cycle, self.cycle)))

    def advance(self, cycles: int) -> Ran:
        """Runs cycles (1 to 2^20) with the queued transactions and returns all events. Outputs also go to receive."""
        if not self._started:
            raise ValueError("the device has not been started")
        cycles = checks.whole("cycles", cycles, 1, f.MAX_CYCLES)
        head = struct.pack("<QQII", self._quantum, self.cycle, cycles, len(self._inputs))
        self._send(f.frame(f.RUN, head + b"".join(self._inputs)))
        self._inputs = []
        limit, records = self._timeout + 20e-6 * cycles, []
        while True:
            ran = f.decode_ran(self._receive(f.RAN, limit), self.hello)
            if (ran.quantum, ran.start) != (self._quantum, self.cycle):
                raise BridgeError("protocol", f"RAN is of quantum {ran.quantum} from cycle {ran.start}, "
                                  f"not {self._quantum} from {self.cycle}")
            records += ran.records
            if not ran.flags & (f.MORE | f.PARTIAL):
                break
        ran.records = records
        for r in records:
            if r.kind == f.OUTPUT:
                self._outputs[r.stream].append(r)
        self.cycle, self._quantum = self.cycle + cycles, self._quantum + 1
        return ran

    def receive(self, stream: str) -> list[Record]:
        """Returns the outputs of a stream since the last call."""
        if checks.words("stream", stream) not in self._outputs:
            outputs = ", ".join(self._outputs) or "none before its start"
            raise ValueError(f"no output {stream}; the device has {outputs}")
        got, self._outputs[stream] = self._outputs[stream], []
        return got

    def close(self) -> None:
        try:
            self._sock.sendall(f.frame(f.STOP))
        except OSError:
            pass  # the device has ended already
        self._sock.close()
        if self._child is not None:
            try:
                self._child.wait(self._timeout)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()

    def _send(self, data: bytes) -> None:
        self._sock.settimeout(self._timeout)
        try:
            self._sock.sendall(data)
        except OSError as e:
            raise self._refusal() or self._lost(e, self._timeout) from None

    def _refusal(self) -> BridgeError | None:
        """Returns the ERROR that an ended device sent, if any, behind unread frames."""
        until = time.monotonic() + self._timeout
        try:
            while time.monotonic() < until:
                kind, payload = self._frame(0.0)
                if kind == f.ERROR:
                    break
            else:
                return None
        except BridgeError:
            return None  # an incomplete frame: it matters more that the device has ended
        try:
            return f.decode_error(payload)
        except BridgeError as e:
            return e

    def _lost(self, e: OSError, limit: float) -> BridgeError:
        if isinstance(e, socket.timeout):
            return BridgeError("timeout", f"nothing went on for {limit:.1f} s")
        return BridgeError("closed", f"the device ended the connection: {e}")

    def _receive(self, want: int, limit: float) -> bytes:
        kind, payload = self._frame(limit)
        if kind == f.ERROR:
            raise f.decode_error(payload)
        if kind != want:
            raise BridgeError("protocol", f"a frame of type {kind}, not {want}")
        return payload

    def _frame(self, limit: float) -> tuple[int, bytes]:
        """Returns the next frame's type and payload without checking them."""
        until = time.monotonic() + limit
        n, kind, zero = struct.unpack("<IHH", self._exactly(8, until, limit))
        if n > f.MAX_FRAME or n % 8 or zero:
            raise BridgeError("protocol", f"a frame of type {kind} has {n} bytes")
        return kind, self._exactly(n, until, limit)

    def _exactly(self, n: int, until: float, limit: float) -> bytes:
        out = bytearray()
        while len(out) < n:
            self._sock.settimeout(max(until - time.monotonic(), 1e-3))
            try:
                got = self._sock.recv(n - len(out))
            except OSError as e:
                raise self._lost(e, limit) from None
            if not got:
                raise BridgeError("closed", "the device ended the connection")
            out += got
        return bytes(out)
