// Package sources expands the sources of a manifest: the files of patterns and file lists, the folders and macros that
// lists add, what the files include, and the modules that they declare.
//
// It reads, and runs no tool. Invariants: each file occurs once, in the order in which it was named; the size of files
// and the nesting of lists are limited; faults name the field of the manifest, or the list and its line.
package sources
