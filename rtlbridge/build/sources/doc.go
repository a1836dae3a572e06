// Package sources tells what the sources of a manifest come to: files that patterns and file lists stand for, the
// folders and macros that lists add, what the files include, and the modules that they declare.
//
// It reads, and runs no tool. Invariants: each file comes once, in the order in which it was named; nothing is read
// without a limit, neither a file nor a list in a list; faults name the field of the manifest, or the list and its
// line.
package sources
