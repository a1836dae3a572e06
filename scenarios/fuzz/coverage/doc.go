// Package coverage counts which bins programs hit, out of all that a build can reach.
//
// It does not watch a run itself: the player's watcher reports to it.
//
// Invariants:
//   - Every counted name is listed for its build, or reported as unlisted.
package coverage
