// Package blocks plays blocks of the RTL without the rest of the NIC, each as a device of its own, against the Go block
// of the same name: random requests under gaps and back-pressure, every result compared field by field.
//
// A block has a manifest and, where its ports are no streams, a wrapper in verilator/duts/blocks. Its requests and
// results are packets whose bytes are named by a Layout; kit.NewRecord makes large ones from Go structures. Its
// reference is the functional core of models/nic, called with the same requests in the same order.
//
// The pairs are in receive, transmit and registers, and consist of components in kit. This package lists and plays
// them.
//
// A new pair is a manifest with the streams req and rsp (and a wrapper made of the parts in rtl/parts there), and a
// Block in All: its layouts, its Stimulus and its Reference. Runs with and without stalls, and the test that every
// field of a result is compared, then cover it as well.
//
// Requests of blocks with state are operations. Where the contract leaves timing open, the wrapper waits: an operation
// ends before the next begins, as far as their order matters. Results that may come in any order are identified by the
// address range that they use (kit.Places), or by the queue to which the stimulus gives that range.
//
// The split of writes into TLPs is open as well. A result has the writes TLP by TLP; Settle checks them against the
// rules of PCIe, reassembles the bytes by address, and converts the result to the form of the reference.
//
// All Go blocks with a module of the same name are pairs, with fetch, push and the transmit side of cqe in txq. The
// exceptions are rx and tx, which consist of the others. Their own function is not played alone: how copies, ports and
// stops wait for one another.
//
// It does not test how blocks work together: boards do that (scenarios/replay, scenarios/fuzz). It does not check
// timing: a block may take any time, up to a limit.
//
// Invariants:
//   - Requests, gaps and stalls are a function of block, seed and settings alone, and so is the digest of a run.
//   - A run that compared nothing fails, and so does one whose device is silent for too long or sends too much.
package blocks
