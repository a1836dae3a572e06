// Package copies has the checks of the copy engine [D]: every byte and status, order against Sends, fences, lines and
// invalidate messages, back-pressure.
//
// Invariants:
//   - Every check also compares the memory around its targets, which must stay unchanged.
package copies
