// Package coverage counts what programs reached, against all that they could reach in a build.
//
// It does not look at a run itself: the player's watcher reports to it.
//
// Invariants:
//   - Every name that is counted is listed for its build, or reported as unlisted.
package coverage
