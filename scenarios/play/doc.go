// Package play drives anybody's device with random transactions, and judges what comes out: by the rules of its
// streams, by a check that the manifest names, or by a reference in Go (models/ref). It is what `nictwin play` does;
// docs/own-rtl.md is its manual.
//
// A manifest's section `play` describes what is drawn: sizes, values, gaps, stalls, clock periods, parameters. The seed
// of a run determines its transactions, the cycles in which they are offered, and the stalls. A failing run is
// shortened: transactions, gaps and stalls are left out as long as it still fails.
//
// It knows no NIC: no board, driver or referee takes part. Package rtlbridge builds the device and maps its pins to
// streams.
//
// Invariants:
//   - A seed, a manifest and a reference say everything about a run; neither the wall clock nor the number of
//     processors does.
//   - Every wait has a limit: a device that does nothing for `patience` cycles ends the run, and what was due is
//     reported.
//   - A run in which nothing was compared fails. So does a campaign in which a stream that the check covers never
//     carried anything; a stream that was silent in some runs only is a warning.
//   - The verdict is this process's own: a user's reference only says, from another process, what is right (own).
package play
