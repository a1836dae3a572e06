// Package cli runs the commands: it turns settings into a run, and the outcome into an exit code, the JSON object
// that scripts read, a line for people and the command that reproduces it.
//
// It parses no flags and prints nothing; cmd/nictwin does.
//
// Invariants:
//   - Every outcome has one exit code: 0 pass, 1 mismatch, 2 usage, 3 infrastructure, 130 interrupted. An error of
//     unknown kind is infrastructure, never a pass.
//   - A folder of artifacts never keeps the verdict of an earlier run, however this one ends.
//   - Nothing is deleted except verdicts that this package wrote.
package cli
