"""A client of the bridge to verilated RTL (docs/bridge.md, version 3), which needs only the standard library."""

from .device import Device
from .frames import BridgeError, Hello, Ran, Record, Stream

__all__ = ["BridgeError", "Device", "Hello", "Ran", "Record", "Stream"]
