// Package home finds nictwin's own files: the folder that holds verilator/, with the RTL, the harness and the manifests
// of the devices.
//
// It builds nothing and reads no manifest; rtlbridge does. What it finds is compiled and run, so where it looks
// decides what is trusted: what the user names, else what lies with the program. The working folder has no say, and
// neither has who could put files above the program, but not change the program.
//
// Invariants:
//   - A folder that was named, by flag or environment, is taken or refused, never silently replaced by another.
//   - What is looked for and not found is answered with where it was looked for.
//   - Telling the revision of a home runs nothing that the home brings along.
package home
