// Package build makes a program of a manifest's design and of the harness, by Verilator and a C++ compiler, or finds
// it in the cache; it checks designs without building them, lists their ports, instances and cover points, and plays
// recordings on a program that was built.
//
// It starts no session with a device: rtlbridge does. Package toolchain finds and runs the tools, sources expands the
// sources of a manifest, and cache manages the folder of builds.
//
// Invariants: no generated file is written to the tree of the sources. A build is named by the hash of everything that
// it was made of, contents only, so that a copy elsewhere has the same name; a damaged one is rebuilt. A fault of the
// design is a *DesignError or *RefusedError with file and line, one of the manifest a *manifest.Error.
package build
