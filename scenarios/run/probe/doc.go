// Package probe measures a board while a scenario runs on it, from outside: when the first packet of each message
// enters a cable, and what counters of the models say at the ends of intervals.
//
// Invariants:
//   - It schedules no event and changes none: a run has the same events with and without it.
//   - It reads headers at fixed places and keeps no frame.
package probe
