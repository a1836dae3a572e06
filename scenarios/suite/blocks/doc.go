// Package blocks plays blocks of the RTL alone, each as a device of its own, against the Go block of the same name:
// random requests under gaps and back-pressure, every result compared field by field.
//
// A block has a manifest and, where its ports are no streams, a wrapper in verilator/duts/blocks; its requests and
// their results are packets, whose bytes a Layout names: large ones are Go structures, from which kit.NewRecord makes
// it. Its reference is the functional core of models/nic, called with the same requests in the same order.
//
// The pairs are in receive, transmit and registers; kit is what they are made of. This package lists and plays them.
//
// A new pair is a manifest with the streams req and rsp (and a wrapper made of the parts in rtl/parts there), and a
// Block in All: its layouts, its Stimulus and its Reference. Runs with and without stalls, and the sabotage of every
// field of a result, come with it.
//
// Blocks with a state are given operations. Where the contract leaves time free, the wrapper waits: an operation is
// over before the next begins, as far as the order matters; what may come in any order is told by its place. Addresses
// have places, too, and queues have one each.
//
// How writes are cut is free, too: a result has them TLP by TLP, and Settle holds them to the rules of PCIe, puts the
// bytes together by their addresses and says what the reference can say.
//
// All Go blocks that have a module of their name are pairs, with fetch, push and the transmit side of cqe in txq; but
// rx and tx, which are made of them. What only these have is not played alone: how copies, ports and stops wait for
// one another.
//
// It is not a proof of how blocks work together: boards do that (scenarios/replay, scenarios/fuzz). It knows no timing:
// a block may take as long as it likes, up to a limit.
//
// Invariants:
//   - Requests, gaps and stalls are a function of block, seed and settings alone, and so is the digest of a run.
//   - A run that compared nothing has failed, and so has one whose device is silent for too long or gives too much.
package blocks
