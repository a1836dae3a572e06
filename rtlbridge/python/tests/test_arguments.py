"""Tests that wrong arguments are refused with name and range before anything is sent to the device."""

import math
import unittest
from typing import Any

from nictwin_bridge import Device

from . import test_device

NO_NUMBERS: tuple[Any, ...] = (True, 1.5, 1.0, math.nan, math.inf, "1", None, -1, 1 << 70, 1 << 100_000, b"1", [1])


class Arguments(unittest.TestCase):
    ended = test_device.Refusals.ended

    def refused(self, names: str, call: Any, *args: Any, **options: Any) -> None:
        with self.assertRaises(ValueError) as wrong:
            call(*args, **options)
        self.assertRegex(str(wrong.exception), names)
        self.assertLess(len(str(wrong.exception)), 400)

    def test_start(self) -> None:
        with self.ended(b"") as d:
            clock, tie = next(iter(d.hello.clocks)), next(iter(d.hello.tie_offs), None)
            for bad in NO_NUMBERS:
                for name in ("seed", "watchdog", "stall", "burst", "longest"):
                    self.refused(f"^{name} is .*: want a whole number from", d.start, **{name: bad})
                self.refused(f"^period of clock {clock} is .*from 2 to 1000000000", d.start, clocks={clock: (bad, 0)})
                self.refused(f"^phase of clock {clock} is ", d.start, clocks={clock: (5000, bad)})
                if tie is not None:
                    self.refused(f"^tie-off {tie} is ", d.start, tie_offs={tie: bad})
            for name, beyond in (("stall", 101), ("burst", 17), ("longest", 0), ("longest", (1 << 20) + 1)):
                self.refused(f"^{name} is {beyond}: want a whole number from", d.start, **{name: beyond})
            self.refused("^poison is 1: want True or False", d.start, poison=1)
            self.refused("^clocks is 5: want a dict", d.start, clocks=5)
            self.refused("want its period and its phase", d.start, clocks={clock: 5000})
            self.refused("^no clock 7; the device has", d.start, clocks={7: (5000, 0)})
            self.refused("^no tie-off nowhere; the device has", d.start, tie_offs={"nowhere": 1})

    def test_transactions(self) -> None:
        with self.ended(b"") as d:
            d._started = True  # arguments are checked before anything is sent
            packets = next(s for s in d.hello.streams.values() if not s.out and s.kind in ("axis", "tlp"))
            for bad in NO_NUMBERS:
                self.refused("^cycle is .*: want a whole number from 0 to 2\\^64 - 1", d.send, packets.name, bytes(4),
                             bad)
                self.refused("^cycle is ", d.reset, bad)
                self.refused("^cycles is .*: want a whole number from 1 to 1048576", d.advance, bad)
                for name in packets.fields:
                    self.refused(f"^stream {packets.name}: field {name} is ", d.send, packets.name, bytes(4),
                                 **{name: bad})
            for bad in (True, 1.5, None, "text", [1]):
                self.refused(f"^stream {packets.name}: data is .*: want bytes", d.send, packets.name, bad)
            self.refused("1048580 bytes of data do not go", d.send, packets.name, bytes((1 << 20) + 4))
            for bad in (5, None, b"in", ["in"]):
                self.refused("^stream is .*: want a str", d.send, bad)
                self.refused("^stream is .*: want a str", d.receive, bad)
            self.refused("^no stream nowhere; the device has", d.send, "nowhere")
            self.refused("^no output nowhere; the device has", d.receive, "nowhere")

    def test_connections(self) -> None:
        for bad in (0, -1, True, math.nan, math.inf, "8", None):
            self.refused("^timeout is .*: want seconds", Device, "unix:/nowhere", bytes(32), bad)
            self.refused("^timeout is ", Device.launch, "/nowhere", bad)
        for bad in ("x" * 32, None, 32):
            self.refused("^token is .*: want bytes", Device, "unix:/nowhere", bad)
        self.refused("^the token has 31 bytes, not 32", Device, "unix:/nowhere", bytes(31))
        self.refused("^address is 5: want a str", Device, 5, bytes(32))
        for bad in ("nowhere", "tcp:127.0.0.1:0", "tcp:127.0.0.1:70000", "tcp:127.0.0.1:" + "9" * 5000, "tcp:x"):
            self.refused("^address .*: want unix:/path or tcp:host:port", Device, bad, bytes(32))


if __name__ == "__main__":
    unittest.main()
