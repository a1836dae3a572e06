// Package bench measures how fast the simulator is, and how fast the NIC that it simulates is.
//
// A figure of the simulator is a ratio wherever there is something to compare with: the referee and the bridge with the
// bare RTL under the same stimulus, the engine with Akita's. Both sides are measured alternately in one run. Figures of
// the NIC are counts of its clock cycles, which do not depend on the machine.
//
// A benchmark runs the same code as a replay, referee included: nothing is switched off to be fast.
//
// Invariants:
//   - A figure is given only for work that was done right. A run in which the referee or the end-to-end check finds a
//     fault fails the measurement, and so does a playback whose outputs differ.
//   - Goals are printed beside the figures and do not affect them.
package bench
