// Package bundle reads and writes bundles: one file with the input of a failing run and all that is needed to play it
// somewhere else.
//
// A bundle is a zip archive. Its first entry, bundle.json, has command, flags, inputs, device and finding ([Info]); the
// inputs themselves, the run's summary and, as far as they exist, a waveform and the RTL follow. docs/bundles.md has
// the format.
//
// A bundle may come from a stranger. Invariants of reading:
//   - It takes bounded memory and time: entries are limited in number, and bytes as they are unpacked.
//   - Every name is one of a known form, so that nothing leaves the folder that a bundle is unpacked into.
//   - Fields, flags and roles that are not known are refused, and every error names the entry.
//   - Nothing is executed, and what is unpacked are inputs alone: data that the player reads.
//
// Equal bundles have equal bytes.
package bundle
