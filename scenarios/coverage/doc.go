// Package coverage reports how much of the RTL was exercised: it merges the counts of coverage builds in a folder,
// leaves out what a reviewed list excludes with reasons, and reports figures and holes.
//
// A line point (a block or a branch) is hit when it was executed, even during reset. A bit is hit when it changed at
// least twice after reset in one run, that is, both ways. Instances of a module count as one, and so do the lanes of
// an array and the entries of a memory: a hit in any of them counts. Counts of builds
// with different sizes (of queues, ports, tables) are added up.
//
// It does not say that exercised code was right: that is the task of the referee, in the very runs that are counted.
package coverage
