// Package drivertest checks a NIC, a Bus and the driver between them against the driver's contract: RunContract sets up
// and uses everything that the driver offers, and checks registers, memory and frames.
//
// It does not judge the NIC: that is the job of the referee and the contract suite. A NIC that passes those must pass
// here, behind any Bus.
package drivertest
