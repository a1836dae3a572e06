// Package build makes a program of a manifest's design and of the harness, by Verilator and a C++ compiler, or finds
// it in the cache; it checks designs without building them, tells their ports, instances and cover points, and plays
// recordings on a program that was built.
//
// It starts no session with a device: rtlbridge does. Which tools there are, what they may use and what they said is
// told by toolchain, what the sources of a manifest come to by sources, where builds lie by cache.
//
// Invariants: nothing generated is written to the tree of the sources. A build is named by the hash of all that it was
// made of, contents alone, so that a copy elsewhere has the same name; one that is damaged is made anew. A fault of
// the design is a *DesignError or *RefusedError with file and line, one of the manifest a *manifest.Error.
package build
