// Package transport implements the transports of the stack as state machines: RC with go-back-N or selective repeat,
// UC, UD, and Solar.
//
// A [Conn] is one end of a connection. Its caller, the loop of a data core, posts requests, passes in each received
// packet ([Conn.Input]), pulls packets that may leave ([Conn.Next]), reports that copies have ended ([Conn.Placed],
// [Conn.Sent]) and that time has passed ([Conn.Expire]). A connection requests actions through the caller's [Env].
//
// The package has no time: now and deadlines are integer picoseconds passed in and out. It has no memory: payload is
// named by spans and never touched. An outgoing packet consists of its headers and the spans behind them; the NIC
// gathers both and appends the ICRC. The package knows no NIC, no board and no congestion control, which is behind
// [Pacer].
//
// # Order
//
// The caller carries out Place and Store in the order of the calls, as one queue of a copy engine does; it may report
// their ends in any order. Then
//   - a receive completion comes after the bytes of all earlier packets of its connection are in memory, a send
//     completion after its own are. Where the caller orders completions behind copies (Env.Place), a receive
//     completion is reported before the copies have ended; if one fails then, the connection goes to ERR with
//     EventQPFatal;
//   - a READ or atomic is carried out after all earlier WRITEs and SENDs are in memory. Requests behind a READ or an
//     atomic wait for it only with a fence (IBTA 10.8.3.3); LOCAL_INV waits for all before it, and holds up those
//     behind it. A NOP ends when those before it have, and holds up none.
//
// Acknowledgements on the wire do not wait for memory.
//
// Each packet given to Input is disposed of exactly once: by Drop, or by Place, which returns the buffer to the caller
// as soon as the copy has ended. A packet that arrives too early may be kept in between (Keep).
//
// With Spec.Landing the NIC writes the payload of a single-packet SEND to the buffer of a receive request before the
// connection sees its headers. Such receive requests are not posted here: the packet names the one it took. A packet
// that is a duplicate or not accepted is dropped, and the caller may then reuse the request.
//
// # Selective repeat
//
// The standard has none, so the acknowledgement is our own: BTH opcode 0xC1 (in the manufacturer range), an AETH, then
// one to sixteen 64-bit words, big endian:
//
//	BTH   opcode 0xC1, PSN e-1: all packets up to and including this PSN have arrived
//	AETH  syndrome ACK, MSN
//	map   bit i (least significant first, first word first): PSN e+i has arrived
//
// PSN e itself is missing by definition, so bit 0 is clear. A selective acknowledgement is sent while packets are kept,
// a plain ACK otherwise. Losses are found by order of transmission: a packet is lost when one sent more than
// ReorderPackets later has arrived. READ responses need no acknowledgement: the requester sees the gaps and requests
// that range again. Both ends need the same Window.
//
// # Receive window
//
// RoCE lets a requester send WRITEs and answers as fast as it can; what the peer cannot hold is lost, even on a cable
// that loses nothing. Here each end tells the other how many packets it can still take (Env.Buffers), and the requester
// sends no new packet beyond that number; a READ takes one buffer of the peer, however many PSNs it has.
// Acknowledgements, and the answers that have an AETH, carry a code in the seven reserved
// bits beside AckReq of the BTH, which other NICs send as zeros and ignore. The window counts from the first PSN that
// the packet does not acknowledge (a NAK: from its PSN). Code 0 is no window, 1 to 16 are 0 to 15 packets; then there
// are eight codes for each doubling (16, 18, .. 32, 36, ..).
//
//   - What was advertised stays valid: a window does not shrink.
//   - Before the first answer a requester sends 4 packets. It requests an acknowledgement for each quarter of a
//     window, but at least every AckEvery packets, and for the packet that uses the window up.
//   - The responder counts a buffer as occupied until the buffer can receive again, which may be long after the packet
//     in it was acknowledged. It acknowledges unasked once a quarter of its buffers are free again and the peer may be
//     waiting.
//   - If that acknowledgement is lost, a requester without anything in flight sends one packet after its timeout, or
//     after 67 ms if it has none.
//   - Answers to this end's requests are bounded by the requester itself: PSNs in flight, and buffers with answers that
//     are still being copied, are no more than the share of its own buffers. A READ of more packets is requested piece
//     by piece, each by the room at that time.
//   - If the share shrinks below what is in flight, and none of that has requested an answer, one more packet leaves
//     and requests one.
//
// A peer that advertises no window is sent Spec.Window packets.
//
// # Solar
//
// No wire format is public: this one models the description in SIGCOMM'22 (one packet is one block of storage). Packets
// are independent of each other: no order, one acknowledgement each, each retransmitted by itself.
//
//	BTH     opcode 0xC8 WRITE, 0xC9 READ, 0xCA DATA, 0xCB ACK; PSN: of the packet, or the one answered
//	header  16 bytes: version (1), syndrome as in an AETH (ACK), block number (2), request (4), key (4), length (4)
//	block   WRITE and DATA: at most MTU bytes
//	trailer 12 bytes: CRC-32C of the block (4, least significant byte first, as NICs store it), address (8);
//	        after it 0 to 3 pad bytes, PadCnt of the BTH
//
// Whoever gathers the block inserts the CRC (Out.CRCAt); it is checked through Env.CRC. Requests end in any order. A
// WRITE is acknowledged when it is in memory.
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
