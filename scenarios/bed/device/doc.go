// Package device makes the devices for a NIC's slot: the Go NIC, RTL behind the bridge, or a remote device reached by
// its address. It is the only place that distinguishes them.
//
// Open builds the device or connects to it, which also yields its clock period; its NIC method is the slot's
// board.Factory.
//
// It connects nothing and runs nothing; that is up to the code that put the slot on a board.
package device
