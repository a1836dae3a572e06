"""The client's frames against rtlbridge/testdata/vectors.txt."""

import pathlib
import unittest

import nictwin_bridge as nb

VECTORS = pathlib.Path(__file__).parents[2] / "testdata" / "vectors.txt"


def vector(name: str) -> bytes:
    for line in VECTORS.read_text().splitlines():
        if line.startswith(name + " "):
            return bytes.fromhex(line.split()[2])
    raise KeyError(name)


class Vectors(unittest.TestCase):
    def test_open(self) -> None:
        token = b"\xaa" + bytes(30) + b"\xbb"
        self.assertEqual(nb.encode_open(token), vector("open"))

    def test_ran(self) -> None:
        hello = nb.decode_hello(vector("hello")[8:])
        self.assertEqual(list(hello.streams), ["eth_in", "tlp_in", "eth_out"])
        ran = nb.decode_ran(vector("ran")[8:], hello)
        self.assertEqual((ran.quantum, ran.cycles, ran.observed), (3, 60, [1]))
        self.assertEqual([r.kind for r in ran.records], [1, 2, 3, 5, 4, 5])
        self.assertEqual(len(ran.records[1].data), 77)

    def test_error(self) -> None:
        e = nb.decode_error(vector("error")[8:])
        self.assertEqual((e.name, e.cycle), ("assertion", 77))

    def test_faults(self) -> None:
        hello = nb.decode_hello(vector("hello")[8:])
        for name in ("hello-magic", "hello-version", "hello-short", "hello-long"):
            with self.subTest(name), self.assertRaises(nb.BridgeError):
                nb.decode_hello(vector(name)[8:])
        for name in ("ran-short", "ran-long", "ran-kind", "ran-stream"):
            with self.subTest(name), self.assertRaises(nb.BridgeError):
                nb.decode_ran(vector(name)[8:], hello)


if __name__ == "__main__":
    unittest.main()
