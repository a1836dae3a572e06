"""Tests the client with a device that ends the session."""

import pathlib
import socket
import tempfile
import threading
import unittest

from nictwin_bridge import BridgeError, Device
from nictwin_bridge.frames import decode_error

from .test_vectors import vectors


class Refusals(unittest.TestCase):
    def ended(self, last: bytes) -> Device:
        """Returns a client whose device has sent `last` and closed the connection."""
        frames = vectors()
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            path = pathlib.Path(folder, "device")
            listener.bind(str(path))
            listener.listen()

            def serve() -> None:
                sock, _ = listener.accept()
                with sock:
                    sock.recv(len(frames["open"][1]), socket.MSG_WAITALL)
                    sock.sendall(frames["hello"][1] + last)

            server = threading.Thread(target=serve)
            server.start()
            device = Device(f"unix:{path}", bytes(32), timeout=2.0)
            server.join()
            return device

    def test_reason_sent_before_the_end(self) -> None:
        """Checks that the client reports the device's ERROR even if its own next frame finds the connection closed."""
        with self.ended(vectors()["error"][1]) as device, self.assertRaises(BridgeError) as refused:
            device.start()
        self.assertNotIn(refused.exception.name, ("closed", "timeout"))

    def test_reason_behind_frames_that_nobody_read(self) -> None:
        frames = vectors()
        reason = decode_error(frames["error"][1][8:])
        with self.ended(frames["ran"][1] * 2 + frames["error"][1]) as device, self.assertRaises(BridgeError) as refused:
            device.start()
        self.assertEqual((refused.exception.name, str(refused.exception)), (reason.name, str(reason)))

    def test_other_frames_are_no_reason(self) -> None:
        """Checks that other frames, whole or cut, are not taken for an ERROR: the device has ended without a reason."""
        frames = vectors()
        for last in (frames["ran"][1], frames["ran"][1][:20], frames["error"][1][:20]):
            with self.ended(last) as device, self.assertRaises(BridgeError) as refused:
                device.start()
            self.assertEqual(refused.exception.name, "closed")

    def test_end_without_a_reason(self) -> None:
        with self.ended(b"") as device, self.assertRaises(BridgeError) as refused:
            device.start()
        self.assertEqual(refused.exception.name, "closed")


if __name__ == "__main__":
    unittest.main()
