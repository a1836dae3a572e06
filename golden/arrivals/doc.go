// Package arrivals holds the received frames whose fate is not known yet, in order of arrival, and
// bounds the fill of the receive buffer [R3]. For each frame it knows where its fate is decided; of
// dropped frames it keeps those whose cause is not certain and those that may still be in the
// buffer.
//
// It does not see crossings, decides nothing and reports nothing: the referee's receive side tells
// it the fate of each frame. Nothing allocates in steady state.
//
// Invariants:
//   - Port.Undecided has the frames from ordinal Base on, nil for those whose fate is known, and
//     begins with one whose fate is not.
//   - Port.Level is at least what the device's buffer holds.
//
// References in brackets are rules of docs/nic.md.
package arrivals
