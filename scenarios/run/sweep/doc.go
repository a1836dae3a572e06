// Package sweep sets fields of a spec to each combination of the values that a file gives by their paths.
//
// It knows no spec: values are read by package specfile into the fields that a path names, in copies of the spec. The
// caller gives old names for paths, and refuses fields.
//
// Invariants:
//   - Axes that were read without an error set every combination without one.
//   - Different values of an axis have different texts, which suit names of folders.
package sweep
