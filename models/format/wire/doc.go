// Package wire implements the RoCEv2 wire format: transport headers, checksums and
// the ICRC.
//
// Every header has three types, which separate bytes and values:
//
//   - a view ([BTH], [RETH], ...), a byte slice with accessors that read and
//     patch the bytes in place;
//   - fields ([BTHFields], [RETHFields], ...), a plain struct with the decoded
//     values, reserved bits included, so that encoding them again gives the
//     same bytes;
//   - a layer ([BTHLayer], [RETHLayer], ...) for gopacket, which splits
//     its input without copying it. UDP port 4791 is registered.
//
// Besides, there are the opcode table ([OpInfo], [ExtLen]), the Internet
// checksum ([PartialSum], [UDPChecksum]), the ICRC ([ICRC],
// [VerifyFrameICRC], [InsertFrameICRC]) and CRC-32C ([CRC32C]).
//
// Supported transports are RC, UC, UD and the CNP. RD, XRC and the
// manufacturer opcodes are recognised and named, but have no extension
// headers here. RoCEv1, native InfiniBand (LRH, GRH) and management
// datagrams are out of scope, and so is IP fragment reassembly. How a NIC
// classifies frames is the hardware contract's business, not this package's.
//
// Invariants: decoding never panics, never changes its input and keeps slices
// of it, so a caller that reuses a buffer must be done with the decoded headers;
// encoding never changes its argument; nothing on the path of a well-formed
// packet allocates; there is no state shared between calls. Views taken by
// conversion rather than by their Parse function panic when too short, as any
// slice does.
//
// References: "IBTA" is the InfiniBand Architecture Specification, volume 1,
// release 1.4; "A17" its annex on RoCEv2.
package wire
