// Package remote runs a reference (models/ref) in a process of its own: the messages between it and
// the player, and the loop that serves them in that process. scenarios/play/own starts the process,
// limits it and reads its answers.
//
// The player sends requests and the reference's process answers each with one message. A request
// carries the transactions of a quantum, so that a run takes one exchange for each quantum with
// crossings, and none for the others. An answer carries what the reference did meanwhile:
// transactions for inputs, the first fault of the device, or a mistake of its own.
//
// Before each call into the reference, the process writes a note of it to a small file. A watching
// process can thus see whether calls still begin and end, and which one was in progress when the
// process ended.
//
// It is not a sandbox: a reference is the user's own program, with the user's rights.
//
// Invariants:
//   - A run gives the same results as with the reference in the player's process.
//   - Every request has one answer, with the request's number and the nonce of the run; anything
//     else in the channel is an error.
//   - Whatever goes wrong in a call (a panic, runtime.Goexit) is reported in its answer, with file
//     and line.
package remote
