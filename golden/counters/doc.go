// Package counters knows what the device's counters may say [G5]: how often each
// was stepped for certain, how often it may have been, and what a read that is
// accepted now has to show at least. Drops are sets of the counters that a frame
// can move that was not delivered.
//
// It is told what happened by who judges that, and reports nothing itself.
//
// Invariants:
//   - What a counter may say at most never falls below what it must say at least,
//     if every Confirm, Withdraw and Unsure is of a step that was noted before.
//   - In steady state nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package counters
