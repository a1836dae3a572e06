"""A client of the bridge to verilated RTL (docs/bridge.md, version 3), with the standard library alone."""

from .device import Device
from .frames import BridgeError, Hello, Ran, Record, Stream

__all__ = ["BridgeError", "Device", "Hello", "Ran", "Record", "Stream"]
