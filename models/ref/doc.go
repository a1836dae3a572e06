// Package ref is what a reference for anybody's device is: Go code that says what the device's outputs must be, given
// what it took. `nictwin play` (scenarios/play) drives a device with random transactions and hands every one that
// crosses its pins to the reference; the reference gives answers, says what it expects, and what is wrong.
//
// A reference is a function that is called once a run, before the device powers up. It asks to be told of transactions
// (On), and may make those of an input itself (Draw), answer (Answer), expect (Expect) and keep memories. What it
// knows of inputs it learns from On, in the order in which the device took them: transactions that were only drawn may
// be left out, as the search for a short failing run does.
//
// It is not the player: it knows no clock but cycles, no process and no file. The checks that a manifest can name
// (identity, route, memory) are references, too, in the player.
//
// Invariants:
//   - A reference sees transactions in the order of cycles, inputs before outputs.
//   - A mistake of the reference (a field that no stream has, a value that does not fit) is a panic with a *Mistake:
//     the player tells it with file and line. A fault of the device is Failed, and the first one counts.
//   - Random numbers come from Player.Rand alone, so a seed says everything.
package ref
