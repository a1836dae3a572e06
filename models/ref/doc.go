// Package ref is the interface of a reference for a user's device: Go code that computes what the
// device's outputs must be, given what it took. `nictwin play` (scenarios/play) drives a device
// with random transactions and passes every one that crosses its pins to the reference; the
// reference gives answers, declares what it expects, and reports what is wrong.
//
// A reference is a function that is called once per run, before the device powers up. It subscribes
// to transactions (On), and may make those of an input itself (Draw), answer (Answer), expect
// (Expect) and keep memories. It learns of inputs from On, in the order in which the device took
// them: transactions that were only drawn may be left out, as the search for a short failing run
// does.
//
// The package is not the player: it knows no clock but cycles, no process and no file. The checks
// that a manifest can name (identity, route, memory) are also references; they are part of the
// player.
//
// Invariants:
//   - A reference sees transactions in the order of cycles, inputs before outputs.
//   - A mistake of the reference (a field that no stream has, a value that does not fit) is a panic
//     with a *Mistake, which the player reports with file and line. A fault of the device is a
//     Failure, and the first one counts.
//   - Random numbers come from Player.Rand alone, so a run depends on its seed only.
package ref
