// Package ring has the experiments about ring buffers over RDMA (RB²): two
// servers with a ConnectX-5 each on a switch, and software of package rb2 on a
// core of each.
//
//	pointers         what Algorithm 1 writes and completes; messages read before they are whole
//	synchronization  heads pushed or pulled, tails by completions or written twice (section 4-A)
//	throughput       RB² and the rings that it is compared with, by message size (Exp#1)
//	round-trips      one message at a time, there and back (Exp#2)
//	ablation         RB² without each of its parts (Exp#4)
//	cases            a network function, a database, an HTTP server (section 5-C)
//
// All designs are package rb2 with other thresholds, synchronization and layout
// (inputs.go); what the comparators' papers have beyond that is not here. Software
// writes and reads the number of each message, in the slot, or in memory of its
// own from and to which it copies.
//
// Invariants:
//   - Every message comes once, in order, and is whole when it is read, or the
//     experiment fails (but where it counts those that are not).
//   - No packet is lost or sent twice.
package ring
