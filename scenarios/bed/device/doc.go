// Package device makes what can stand in a NIC's slot: the Go NIC, RTL behind the bridge, or a device that runs
// elsewhere and is reached by its address. It is the one place that knows which is which.
//
// Open builds or reaches the device, which tells the period of its clock; its NIC method is the slot's board.Factory.
//
// It connects nothing and runs nothing; that is for who put the slot on a board.
package device
