// Package ether is an Ethernet frame as it is seen at a port of a device: its
// bytes without FCS, the port, and on transmit the queue it came from.
//
// Of frames it parses pause frames only, which both ends of a link take for
// themselves; all others are for package wire. The message that carries a
// frame over a timed link is in package msg.
package ether
