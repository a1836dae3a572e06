// Command nictwin checks a SmartNIC written in RTL against its golden model in Go.
//
// This folder turns flags and environment into settings, and outcomes into text and exit codes. The logic lies in
// scenarios/shell/cli and the packages that it uses.
//
// Invariants:
//   - Results go to stdout, everything else to stderr. With --json stdout is exactly one line, whatever happens.
//   - Exit codes: 0 pass, 1 mismatch, 2 usage or configuration, 3 infrastructure, 130 interrupted. A panic is 3.
//   - A flag overrides the environment (NICTWIN_ and the flag's name), which overrides the default.
package main
