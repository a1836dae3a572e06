// Package hostnet plays stack/hostnet and its applications on racks of machines, with a referee at each NIC: echo of
// any size, key-value stores, chunks, VXLAN, loss, and NICs in RTL. It has tests only.
package hostnet
