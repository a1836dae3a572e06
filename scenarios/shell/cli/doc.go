// Package cli is what stands behind the command line: it turns settings into a run, and what came of it into an exit
// code, the JSON object that scripts read, a line for people and the command that reproduces it.
//
// It parses no flags and prints nothing; cmd/nictwin does.
//
// Invariants:
//   - Every outcome has one exit code: 0 pass, 1 mismatch, 2 usage, 3 infrastructure, 130 interrupted. An error of
//     unknown kind is infrastructure, never a pass.
//   - A folder of artifacts holds no verdict of an earlier run, however this one ends.
//   - Nothing is deleted but the verdict that this package wrote.
package cli
