// Package waves says when a run leaves a waveform, of which cycles, and how a viewer shows it: a policy from the
// command line (--wave), the window around a difference, and a save file for GTKWave with the streams of the device
// and markers.
//
// It runs nothing and knows no NIC: whoever plays a run repeats it on the build that can write waveforms
// (rtlbridge.VariantWaves), with the window that this package gives.
//
// Invariant: times in a waveform are picoseconds from power-up; those of a report count from the end of reset.
package waves
