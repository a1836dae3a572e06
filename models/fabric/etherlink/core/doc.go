// Package core is the function of an Ethernet switch, apart from time: which
// flow and class a frame belongs to, where it goes, whether the buffer takes
// it, whether it is marked, and which queue sends next.
//
// Invariants:
//   - Nothing here knows a time or a random source: who needs chance brings a
//     number drawn elsewhere (Chance).
//   - Nothing allocates but the address table, when it learns.
package core
