// Package remote puts a reference (models/ref) into a process of its own: the messages between it and the player, and
// the loop that serves them there. Who starts the process, limits it and reads its answers is scenarios/play/own.
//
// The player asks and the reference's process answers, one message each. A request carries the transactions of a
// quantum, so that a run takes one exchange where something crossed the pins, and none where nothing did. An answer
// carries what the reference did meanwhile: transactions for inputs, the first fault of the device, or a mistake of
// its own.
//
// Before each call into the reference, the process notes in a small file which one it is. Whoever watches it thus knows
// whether calls still begin and end, and which one was under way when the process ended.
//
// It is not a sandbox: a reference is the user's own program, and can do what the user can.
//
// Invariants:
//   - A run gives the same results as with the reference in the player's process.
//   - Every request has one answer, with the request's number and the nonce of the run; anything else in the channel
//     is an error.
//   - Whatever is wrong with a call (a panic, runtime.Goexit) is in its answer, with file and line.
package remote
