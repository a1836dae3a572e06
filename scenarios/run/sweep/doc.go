// Package sweep sets fields of a spec to each combination of the values that a file gives by their paths.
//
// It knows no spec: values are read by package specfile into the fields that a path names, in copies of the spec. The
// caller gives names that may stand for paths (Old), and says which fields no sweep may set.
//
// Invariants:
//   - Axes that were read without an error set every combination without an error.
//   - Different values of an axis have different texts, which suit names of folders.
package sweep
