// Package copies has the checks of the copy engine [D]: every byte and status, order against Sends, fences, lines and
// invalidate messages, back-pressure.
//
// Invariants:
//   - Memory around each target stays as it was.
package copies
