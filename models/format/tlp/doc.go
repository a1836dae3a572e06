// Package tlp implements the PCIe transaction layer as seen at a port: the
// header codec, the rules for splitting transfers, a completer, and a monitor
// that checks live traffic against the rules of the standard.
//
// A TLP travels as a [Packet]: sixteen header bytes as on the wire, and a
// payload that is a slice of whole double words (DW). A [Header] is what the
// header bytes mean. Encoding never changes the header it is given and
// decoding never changes the bytes. Payload bytes are in address order: byte 0
// of the payload is the byte at the header's DW address.
//
// In scope: memory reads and writes with 32- and 64-bit addresses, completions
// with and without data, messages with and without data (vendor-defined
// messages carry the cache invalidate), 8-bit tags, TC, attributes, poison.
// MSI-X is an ordinary memory write.
//
// Not in scope, and refused by name when met: locked transactions, I/O and
// configuration requests, AtomicOps, deferrable writes, TLP prefixes, 10-bit
// tags, processing hints (TH), lightweight notification (LN) and address
// translation (AT). A digest (ECRC) is not carried: TD is decoded, and the
// monitor reports it. Ordering between TLPs of different ports and flow
// control credits are not judged here: one port does not show them.
//
// The message that carries a packet over a timed link is in package msg: this
// package knows no time.
//
// Invariants: nothing on the path of a legal TLP allocates; nothing here
// depends on wall clock, map order or a global random source; a [Completer]
// and a [Monitor] each belong to one simulation thread.
//
// References of the form "PCIe 2.2.5" are sections of the PCI Express Base
// Specification, revision 5.0.
package tlp
