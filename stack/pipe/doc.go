// Package pipe moves requests and completions between processors that share no cache: from a host's library to the Arm
// cores of a card, and back.
//
// # The pipe
//
// A pipe has one producer and one consumer, and a ring of 64-byte lines in the consumer's memory. An element is 1 to
// 127 lines. Each line has a tag in its last byte: the number of lines that the element still has, this one included,
// and a flag bit that toggles each lap. A line with the current lap's flag has arrived completely, since a line arrives
// atomically or in the order of its addresses. Lines of an element, and elements, may arrive in any order: the consumer
// takes an element once all of its lines have arrived, and elements in the ring's order.
//
// The consumer counts the lines taken in its own memory. The producer reads the counter every Spec.Credit lines, or
// when the ring seems full, in which case Push returns ENOMEM.
//
// A Mover moves the bytes: by DMAs that the producer submits (Staged, over any copier), by writes of a core (any
// driver.Bus), or by posted register writes (MMIO: an entry by MMIO is a pipe whose lines are written so). The package
// knows no time; the Mover accounts for it.
//
//	SQ   elements of a turn of the library, with one DMA. Inline payload makes them longer (SendElement)
//	RQ   four 16-byte entries in a line; Packer.Flush sends one to three that are left over
//	CQ   64 B, from the Arm to the host (Completion): those of a turn of the data core, with one DMA
//
// # Doorbells
//
// For comparison there is a doorbell behind the same Sender and Receiver: elements stay in the producer's memory, a
// record counts them, and the consumer fetches them by DMA. The record is pushed into the consumer's memory, or stays
// with the producer and is polled by DMA (Doorbell, Fetcher).
//
// # Beside the pipes
//
//   - Shared: assigns the send queues of a context to as many pipes as there are cores; a new queue goes to the core
//     with the fewest.
//   - Active: the queues of a core that have work, served in turn.
//   - Shadow: Arm addresses that stand for host memory.
//
// Invariants:
//   - An element is seen once, in order and whole, or not yet. Any other memory contents are an error that names the
//     line.
//   - A line is overwritten only after its consumer has counted it and its last write has ended.
//   - Nothing allocates in steady state.
//
// "FN" is FlexiNS: its section 3.4 describes the pipe, 3.2 the rest.
package pipe
