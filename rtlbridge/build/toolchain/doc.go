// Package toolchain finds Verilator, the C++ compiler and what belongs to it, and runs them within limits of time,
// memory and output. What they are run for, build decides.
//
// Invariants: a tool that is missing is named with the command that installs it (ErrToolMissing). One that exceeds a
// limit, or whose caller does not wait any longer, is ended with all of its children, and the error says which limit,
// and where it is set.
package toolchain
