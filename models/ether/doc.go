// Package ether is an Ethernet frame as it is seen at a port of a device: its
// bytes without FCS, the port, and on transmit the queue it came from.
//
// It does not parse frames; package wire does that. The message that carries a
// frame over a timed link is in package msg.
package ether
