"""Tests the client's frames against the byte vectors that the Go and C++ sides are tested against."""

import dataclasses
import pathlib
import re
import struct
import unittest

from nictwin_bridge import frames as nb

VECTORS = pathlib.Path(__file__).parents[2] / "testdata" / "vectors.txt"
BRIDGE = pathlib.Path(__file__).parents[3] / "docs" / "bridge.md"


def vectors() -> dict[str, tuple[str, bytes, str]]:
    table = {}
    for line in VECTORS.read_text().splitlines():
        if not line.startswith("#"):
            name, sender, data, *meaning = line.split(" ", 3)
            table[name] = (sender, bytes.fromhex(data), meaning[0] if meaning else "")
    return table


def decode(data: bytes, hello: nb.Hello) -> object:
    """Tests what the client decodes from each kind of frame, and the frames that it encodes."""
    kind = struct.unpack_from("<H", data, 4)[0]
    if kind == nb.HELLO:
        return nb.decode_hello(data[8:])
    if kind == nb.RAN:
        return nb.decode_ran(data[8:], hello)
    return nb.decode_error(data[8:])


class Vectors(unittest.TestCase):
    def setUp(self) -> None:
        self.vectors = vectors()
        self.hello = nb.decode_hello(self.vectors["hello"][1][8:])

    def test_open(self) -> None:
        token = b"\xaa" + bytes(30) + b"\xbb"
        self.assertEqual(nb.open_frame(token), self.vectors["open"][1])
        with self.assertRaisesRegex(ValueError, "the token has 3 bytes, not 32"):
            nb.open_frame(b"abc")

    def test_hello(self) -> None:
        h = self.hello
        self.assertEqual(h.clocks, {"clk": 2500, "aux": 3333})
        streams = h.streams.values()
        got = {s.name: (s.kind, s.out, s.keep_unit, s.beat_bytes, s.side_bytes, s.clock, s.fields) for s in streams}
        self.assertEqual(got, {
            "eth_in": ("axis", False, 1, 64, 0, 0, {}),
            "tlp_in": ("tlp", False, 4, 128, 16, 0, {"thdr": 128}),
            "eth_out": ("axis", True, 1, 64, 2, 0, {"tuser": 9}),
            "req": ("record", False, 0, 0, 3, 1, {"addr": 12, "go": 1}),
        })
        self.assertEqual((h.observed, h.tie_offs, h.busy), (["busy"], {"defect_i": 0}, 0))

    def test_transactions(self) -> None:
        s = self.hello.streams
        run = self.vectors["run"][1][8 + 24:]
        for t in (
            nb.transaction(s["eth_in"], bytes.fromhex("0d141b2229"), b"", 70),
            nb.transaction(s["tlp_in"], b"", bytes.fromhex("1a21282f363d444b525960676e757c83"), 71),
            nb.transaction(s["tlp_in"], bytes.fromhex("343b424950575e656c737a81"),
                           bytes.fromhex("272e353c434a51585f666d747b828990"), 72),
            nb.transaction(s["req"], b"", bytes.fromhex("4e555c"), 73),
        ):
            self.assertEqual(run[: len(t)], t)
            run = run[len(t):]

    def test_fields(self) -> None:
        req = self.hello.streams["req"]
        side = req.pack({"addr": 0xABC, "go": 1})
        self.assertEqual(side, b"\xbc\x0a\x01")
        self.assertEqual(req.unpack(side), {"addr": 0xABC, "go": 1})
        for values, what in (
            ({"adr": 1}, "no field adr; it has addr, go"),
            ({"go": 2}, "field go is 2: want a whole number from 0 to 1"),
            ({"addr": -1}, "field addr is -1"),
        ):
            with self.assertRaisesRegex(ValueError, what):
                req.pack(values)

    def test_field_called_data(self) -> None:
        req = self.hello.streams["req"]
        word = dataclasses.replace(req, fields={"data": 8, "last": 1})
        self.assertEqual(word.parted(0, {"last": 1}), (b"", {"last": 1, "data": 0}))
        self.assertEqual(req.parted(b"ab", {"go": 1}), (b"ab", {"go": 1}))
        want = "stream req: data is the number 5: a stream of kind record without a field data wants bytes"
        with self.assertRaisesRegex(ValueError, want):
            req.parted(5, {})

    def test_ran(self) -> None:
        ran = nb.decode_ran(self.vectors["ran"][1][8:], self.hello)
        self.assertEqual((ran.quantum, ran.start, ran.cycles, ran.flags, ran.observed), (3, 192, 60, 2, [1]))
        self.assertEqual([(r.kind, r.stream, r.flags, r.rule, r.ordinal, r.first, r.last) for r in ran.records], [
            (nb.TAKEN, "tlp_in", 3, 0, 7, 193, 193),
            (nb.OUTPUT, "eth_out", 0, 0, 8, 200, 203),
            (nb.BROKEN, "eth_out", 0, 6, 8, 203, 13),
            (nb.HELD, "eth_in", 0, 0, 0, 220, 230),
            (nb.BUSY, "eth_in", 0, 0, 0, 204, 250),
            (nb.HELD, "eth_out", 0, 0, 0, 204, 251),
        ])
        self.assertEqual((ran.records[1].fields, len(ran.records[1].data)), ({"tuser": 0x201}, 77))

    def test_error(self) -> None:
        e = nb.decode_error(self.vectors["error"][1][8:])
        self.assertEqual((e.name, e.cycle, str(e)), ("assertion", 77, "assertion: level above depth"))

    def test_error_codes(self) -> None:
        table = BRIDGE.read_text().partition("| Code | Meaning |")[2].partition("\n\n")[0]
        self.assertEqual(tuple(re.findall(r"^\| \d+ (\w+) \|", table, re.M)), nb.ERRORS[1:])

    def test_every_frame_of_a_device(self) -> None:
        bad = 0
        for name, (sender, data, meaning) in self.vectors.items():
            if sender != "device":
                continue
            with self.subTest(name):
                if not meaning.startswith("!"):
                    decode(data, self.hello)
                    continue
                bad += 1
                with self.assertRaises(nb.BridgeError) as caught:
                    decode(data, self.hello)
                self.assertEqual(caught.exception.name, "version" if meaning == "!version" else "protocol")
        self.assertGreater(bad, 25)


if __name__ == "__main__":
    unittest.main()
