// Package msg defines the messages that cross timed links, TLP and Frame: a packet of tlp or ether with
// the timestamps of its journey, and the pools that recycle them.
//
// It knows no header and no field; those are in tlp, ether and wire.
//
// Invariants:
//   - The size of a message on its link is computed from its packet (Bytes).
//   - A pool belongs to one simulation thread. Nothing else refers to a message in a pool.
package msg
