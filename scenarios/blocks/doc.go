// Package blocks plays blocks of the RTL alone, each as a device of its own, against the Go block of the same name:
// random requests under gaps and back-pressure, every result compared field by field.
//
// A block has a manifest and, where its ports are no streams, a wrapper in verilator/duts/blocks; its requests and
// their results are packets, whose bytes a Layout names. Its reference is the functional core of models/nic, called with
// the same requests in the same order.
//
// It is not a proof of how blocks work together: boards do that (scenarios/replay, scenarios/fuzz). It knows no timing:
// a block may take as long as it likes, up to a limit.
//
// Invariants:
//   - Requests, gaps and stalls are a function of block, seed and settings alone, and so is the digest of a run.
//   - A run that compared nothing has failed, and so has one whose device is silent for too long or gives too much.
package blocks
