// Package claims lists the claims of the papers as numbers, and compares measurements with them.
//
// A claim has an id, its place in the paper, a metric with value and unit, and a check. The YAML files here hold the
// claims, without any text of the papers. Judge compares a claim with its measurement.
//
// The package does not know how anything was measured, nor which claims are anchors: the experiment whose input a claim
// calibrated declares that.
//
// Invariants:
//   - Reading is strict: an unknown field, a check that does not fit its value or a duplicate id is an error with file
//     and line.
//   - A claim that is an input, or cannot be checked, is never a pass.
package claims
