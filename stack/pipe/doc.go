// Package pipe is how requests and completions get from one processor to
// another that shares no cache with it: from a host's library to the Arm cores
// of a card, and back.
//
// # The pipe
//
// A pipe has one producer and one consumer, and a ring of 64-byte lines in the
// consumer's memory. An element is 1 to 127 lines, each with a tag in its last
// byte: how many lines the element still has, this one included, and a flag bit
// that toggles each lap. A line whose flag is that of the lap is there; its bytes
// are, too, since a line arrives whole or in the order of its addresses. Lines of
// an element, and elements, may arrive in any order: the consumer takes an
// element when all of its lines are there, and elements in the ring's order.
//
// The consumer counts the lines that it took in its own memory. The producer
// reads the counter once in Spec.Credit lines, or when the ring seems full, in
// which case Push ends with ENOMEM.
//
// Bytes move by a Mover: DMAs that the producer submits (Staged, over whatever
// copies), writes of a core (any driver.Bus), or posted register writes (MMIO:
// an entry by MMIO is a pipe whose lines are written so). The package knows no
// time: what a Mover costs is its own business.
//
//	SQ   Batch 1: each element at once. Inline payload makes it longer (SendElement)
//	RQ   four 16-byte entries in a line; Packer.Flush sends one to three that are left over
//	CQ   64 B, from the Arm to the host (Completion)
//
// # Doorbells
//
// Beside the pipe, behind the same Sender and Receiver, for comparison: elements
// stay in the producer's memory, a record tells how many there are, and the
// consumer fetches them by DMA. The record is pushed into the consumer's memory,
// or stays where it is and is polled by DMA (Doorbell, Fetcher).
//
// # Beside the pipes
//
//   - Shared: the send queues of a context share as many pipes as there are cores; a new queue goes to the core with
//     the fewest.
//   - Active: the queues of a core that have something to do, in turn.
//   - Shadow: Arm addresses that stand for host memory.
//
// Invariants:
//   - An element is seen once, in order, whole, or not yet. What the memory says instead is an error that names the
//     line.
//   - A line is written again only after its consumer counted it and its last write has ended.
//   - Nothing allocates in steady state.
//
// "FN" is FlexiNS, whose section 3.4 has the pipe and 3.2 the rest.
package pipe
