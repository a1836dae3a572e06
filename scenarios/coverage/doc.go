// Package rtlcov tells how much of the RTL was exercised: it merges what coverage builds have counted in a folder,
// leaves out what a reviewed list excludes with reasons, and reports figures and holes.
//
// A line point (a block or a branch) is hit when it was executed, reset among it. A bit is hit when it changed at
// least twice after reset in one run, so both ways. Instances of a module count as one, and so do the lanes of an
// array and the entries of a memory: what any of them did is exercised. Builds of other sizes count together.
//
// It does not say that what was exercised was right: that is the referee's work, in the very runs that are counted.
package coverage
