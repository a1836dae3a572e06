// Package ether describes an Ethernet frame as a port of a device sees it: its bytes without FCS, the
// port, and on transmit the queue it came from.
//
// It parses only pause frames, which the ends of a link consume; package wire parses other frames.
// Package msg has the message that carries a frame over a timed link.
package ether
