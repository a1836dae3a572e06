// Package transport is the transports of the stack as state machines: RC with
// go-back-N or selective repeat, UC, UD, and Solar.
//
// A [Conn] is one end of a connection. Its caller, the loop of a data core,
// posts requests, hands in each received packet ([Conn.Input]), pulls packets
// that may leave ([Conn.Next]), says when copies have ended ([Conn.Placed],
// [Conn.Sent]) and that time has passed ([Conn.Expire]). What a connection wants done
// it asks of the caller's [Env].
//
// It has no time: now and deadlines are integer picoseconds that go in and out.
// It has no memory: payload is named by spans, never touched. A packet that
// leaves is its headers and the spans behind them; the NIC gathers both and
// appends the ICRC. It knows no NIC, no board and no congestion control: that
// is behind [Pacer].
//
// # Order
//
// The caller carries out what Place and Store ask for in the order of the
// calls, as one queue of a copy engine does; it may report the ends in any
// order. Then
//   - a receive completion comes after the bytes of all earlier packets of its
//     connection are in memory, a send completion after its own are;
//   - a READ or atomic is carried out after all earlier WRITEs and SENDs are in
//     memory. What follows a READ or an atomic waits for it only with a fence,
//     as IBTA 10.8.3.3 has it; LOCAL_INV waits for all before it.
//
// The network's acknowledgement does not wait for memory.
//
// Each packet given to Input is disposed of exactly once: by Drop, or by Place,
// after which its buffer belongs to the caller as soon as the copy has ended. A packet that
// came too early may be kept in between (Keep).
//
// With Spec.Landing the NIC writes the payload of a SEND of one packet to the buffer of a receive request before the
// connection sees its headers. Such requests are not posted here: the packet says which it took, and one that is not
// accepted, or a duplicate, is dropped, after which the request is the caller's to be used again.
//
// # Selective repeat
//
// The standard has none, so its acknowledgement is ours: BTH opcode 0xC1 (in
// the manufacturer range), an AETH, then one to sixteen 64-bit words, big endian:
//
//	BTH   opcode 0xC1, PSN: all before and with it have arrived (e-1)
//	AETH  syndrome ACK, MSN
//	map   bit i (least significant first, first word first): PSN e+i has arrived
//
// e itself is missing by definition, so bit 0 is clear. It is sent while
// packets are kept; else a plain ACK is. A lost packet is found by order of
// transmission: it is lost when one that was sent more than ReorderPackets
// later has arrived. READ responses need no acknowledgement: the requester sees what is
// missing and asks for that range again. Both ends need the same Window.
//
// # Solar
//
// No wire format is public: this one models the description in SIGCOMM'22 (one
// packet is one block of storage). Packets are independent of each other: no
// order, one acknowledgement each, retransmission each on its own.
//
//	BTH     opcode 0xC8 WRITE, 0xC9 READ, 0xCA DATA, 0xCB ACK; PSN: of the packet, or the one answered
//	header  16 bytes: version (1), syndrome as in an AETH (ACK), block number (2), request (4), key (4), length (4)
//	block   WRITE and DATA: at most MTU bytes
//	trailer 12 bytes: CRC-32C of the block (4, least significant byte first, as NICs store it), address (8); after it 0 to 3
//	        pad bytes, PadCnt of the BTH
//
// The CRC is put in by whoever gathers the block (Out.CRCAt), and checked
// through Env.CRC. Requests end in any order. A WRITE is acknowledged when it is in memory.
//
// # Invariants
//   - Every request ends with exactly one completion (none if unsignaled and
//     successful), in order on RC, UC and UD.
//   - Nothing panics, whatever a packet holds.
//   - In steady state nothing allocates.
//   - Env is never called by an accessor, and must not call back.
//
// References: "IBTA" is the InfiniBand Architecture Specification, volume 1,
// release 1.4.
package transport
