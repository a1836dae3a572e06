// Package bench measures: how fast the simulator is, and how fast the NIC that it simulates is.
//
// Figures of the simulator are ratios where there is something to compare with, and both sides are measured in the same
// run, turn and turn about: the referee and the bridge against the bare RTL under the very same stimulus, the engine
// against Akita's. Figures of the NIC are counts of its clock cycles, which do not depend on the machine.
//
// It changes nothing to be fast: what it measures is what a replay does, referee included.
//
// Invariants:
//   - A figure is given only for work that was done right: a run that the referee or the end-to-end check faults, or a
//     playback whose outputs differ, fails the measurement.
//   - Goals are told beside the figures and never bend them.
package bench
