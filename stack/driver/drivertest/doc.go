// Package drivertest holds a NIC, a Bus and the driver between them to what
// the driver promises: RunContract sets up and uses everything that the driver
// offers, and looks at registers, memory and frames for what came of it.
//
// It does not judge the NIC: that is the referee's and the contract suite's
// part. A NIC that passes there must pass here, behind any Bus.
package drivertest
