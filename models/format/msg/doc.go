// Package msg has the messages that cross timed links, TLP and Frame: a packet
// of tlp or ether with the stamps of its way, and the pools that recycle them.
//
// It knows no header and no field; that is what tlp, ether and wire are for.
//
// Invariants:
//   - The size of a message on its link follows from its packet (Bytes);
//     nobody sets it.
//   - A pool belongs to one simulation thread. What is in a pool is referred
//     to by nobody else.
package msg
