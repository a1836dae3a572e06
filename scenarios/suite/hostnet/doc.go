// Package hostnet plays stack/hostnet and its applications on racks of machines, with a referee at each NIC. It has tests
// only: echo of any size, key-value stores, chunks, VXLAN, loss, and NICs in RTL.
package hostnet
