// Package toolchain finds Verilator, the C++ compiler and its companions, and runs them within limits of time, memory
// and output. Package build decides what they are run for.
//
// Invariants: the error of a missing tool names the command that installs it (ErrToolMissing). A tool that exceeds a
// limit, or whose context is canceled, is ended with all of its children, and the error names the limit and where it is
// set.
package toolchain
