// Package claims lists the claims of the papers as numbers, and compares
// measurements with them.
//
// A claim has an id, where the paper says it, a metric with value and unit, and
// a check. The files beside this one hold them; no prose of the papers is in
// them. Judge compares a claim with what was measured.
//
// It does not know how anything was measured, and decides nothing about anchors:
// whoever calibrated an input by a claim says so.
//
// Invariants:
//   - Reading is strict: an unknown field, a check that does not fit its value or
//     a duplicate id is an error with file and line.
//   - A claim that is an input, or cannot be checked, is never a pass.
package claims
