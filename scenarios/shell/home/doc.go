// Package home finds nictwin's own files: the folder that holds verilator/, with the RTL, the harness and the manifests
// of the devices.
//
// It builds nothing and reads no manifest; rtlbridge does. What it finds is compiled and run, so the search order
// decides what is trusted: the folder that the user names, else the one that contains the program. The working folder
// is never searched, and a folder planted above the program by somebody who could not change the program is refused.
//
// Invariants:
//   - A folder that was named, by flag or environment, is taken or refused, never silently replaced by another.
//   - A failed search names the places that were searched.
//   - Finding the revision of a home runs nothing that the home brings along.
package home
