// Package ether is the message that crosses an Ethernet link: one frame,
// without its FCS, between two components.
//
// It does not parse frames; package wire does that.
//
// Invariants: Data is never shared between two frames of a pool, and belongs
// to whoever retrieved the frame until it is put back.
package ether
