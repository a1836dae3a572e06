// Package classes divides the bytes on a board's links among classes: payload, payload sent again, packet headers,
// acknowledgements, descriptors, completion entries, doorbells, MSI-X messages, headers of TLPs, DLLPs, and others.
//
// It counts what it sees on the links: the type and address of a TLP, with the marks of the stack's memory
// (driver.Uses), the work entries and receive descriptors that a NIC of the contract reads, and the headers of packets.
// Only an RDMA NIC (rnic) reports for which packet it reads payload. A completion belongs to the read that it answers,
// by requester and tag.
//
// Payload counts as sent again if a packet with the same destination, direction and PSN was seen before at the same
// place: leaving a server, leaving a switch, read by a NIC, or written by it.
//
// Invariants:
//   - The classes of a direction add up to the link's own counter (Link.Check).
//   - It schedules no event and changes no message.
//   - The same run gives the same counts.
package classes
