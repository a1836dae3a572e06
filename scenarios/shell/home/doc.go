// Package home finds nictwin's own files: the folder that holds verilator/, with the RTL, the harness and the manifests
// of the devices.
//
// It builds nothing and reads no manifest; rtlbridge does. What it finds is compiled and run, so the search order is a
// matter of trust: first the folder that the user names, then the one that contains the program. The working folder is
// never searched, and a folder planted above the program by somebody who could not change the program is refused.
//
// Invariants:
//   - A folder named by flag or environment is used or refused, never silently replaced by another.
//   - A failed search names the places that were searched.
//   - Finding the revision of a home runs no program that the home contains or configures.
package home
