// Package ring has the experiments about ring buffers over RDMA (RB²): two servers with a ConnectX-5 each on a switch,
// and software of package rb2 on a core of each.
//
//	pointers         pointers, WRITEs and completions of Algorithm 1; messages read before they are complete
//	synchronization  heads pushed or pulled, tails by completions or written twice (section 4-A)
//	throughput       RB² and the rings that it is compared with, by message size (Exp#1)
//	round-trips      one message at a time, there and back (Exp#2)
//	ablation         RB² without each of its parts (Exp#4)
//	cases            a network function, a database, an HTTP server (section 5-C)
//
// All designs are package rb2 with different thresholds, synchronization and layout (inputs.go). Other features of the
// designs that RB² is compared with are not modelled. Software writes and reads only the number of each message: in the
// slot, or in a buffer of its own that is copied to and from the slot.
//
// Invariants:
//   - Every message arrives once, in order, and is complete when it is read, or the experiment fails. Experiments that
//     count incomplete messages are the exception.
//   - No packet is lost or sent twice.
package ring
