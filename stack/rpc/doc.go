// Package rpc sends messages over UDP datagrams, with DCTCP and retransmission in software, in the manner of eRPC. It
// is the network stack of the clients and servers of the CEIO study, whose NIC has no transport of its own.
//
// A flow is a pair of UDP ports, with a Sender at one end and a Receiver at the other. A message is cut into packets of
// at most Spec.Segment bytes of payload. Packets are numbered in the order of their first transmission; a lost packet
// is sent again with its number. The receiver acknowledges packets and reports how many were marked as congestion
// experienced (CE), since UDP has no place for that. An answer of the application travels behind an acknowledgement.
//
// The header, behind UDP, in network byte order:
//
//	byte  0      0xCE
//	      1      bits 3:0 kind (1 data, 2 acknowledgement); bit 4: sent again; bit 5: last packet of its message
//	      2- 3   index of the packet in its message
//	      4- 7   data: number of the packet; acknowledgement: number of the first packet that has not arrived
//	      8-11   message; of an acknowledgement, the one that the payload answers
//	     12-15   bytes of the message; of an acknowledgement, of the answer, or 0
//	     16-19   acknowledgement only: packets that arrived with CE, modulo 2^32
//	     20-51   acknowledgement only: bitmap of the 256 packets from the first missing one on
//
// A window of 1,024 packets may be unacknowledged, as many as a receive ring has buffers.
//
// Bit 5 tells software that knows neither segments nor lengths, such as a receive path that releases buffers message by
// message, where a message ends.
//
// The package is pure: it knows neither time nor frames. A caller passes the time in picoseconds, which must not go
// back, and calls Expire at the time that Deadline returns.
//
// Invariants:
//   - Under any loss, duplication and disorder, every packet is taken once, and a message ends only after all of it.
//   - Packets that were not sent again arrive in the order of their numbers, or Take returns an OrderError: on a
//     network that keeps the order of a flow, that is a fault of the receiving NIC or of the software behind it.
//   - Nothing allocates after New.
package rpc
