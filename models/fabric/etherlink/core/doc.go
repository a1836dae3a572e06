// Package core is the function of an Ethernet switch, apart from time: which flow and class a frame
// belongs to, where it goes, whether the buffer takes it, whether it is marked, and which queue
// sends next.
//
// Invariants:
//   - Nothing here knows a time or a random source: a caller that needs chance passes a number
//     drawn elsewhere (Chance).
//   - Nothing allocates except the address table, when it learns.
package core
