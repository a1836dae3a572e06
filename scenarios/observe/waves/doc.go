// Package waves decides which runs dump a waveform, which cycles it covers, and how a viewer shows it: a policy from
// the command line (--wave), the window around a difference, and a save file for GTKWave with the device's streams
// and markers.
//
// It runs nothing and knows no NIC: its callers repeat a run on the build that can dump waveforms
// (rtlbridge.VariantWaves), with the window that this package computes.
//
// Invariant: times in a waveform are picoseconds from power-up; those of a report count from the end of reset.
package waves
