// Package home finds nictwin's own files: the folder that holds verilator/, with the RTL, the harness and the manifests
// of the devices.
//
// It builds nothing and reads no manifest; rtlbridge does.
//
// Invariants:
//   - A folder that was named, by flag or environment, is taken or refused, never silently replaced by another.
//   - What is looked for and not found is answered with where it was looked for.
package home
