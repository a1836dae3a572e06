// Command nictwin proves that a SmartNIC written in RTL does what its Go twin says.
//
// This folder turns flags and environment into settings, and outcomes into text and exit codes. It owns no logic:
// scenarios/shell/cli and the packages behind it do.
//
// Invariants:
//   - Results go to stdout, everything else to stderr. With --json stdout is exactly one line, whatever happens.
//   - Exit codes: 0 pass, 1 mismatch, 2 usage or configuration, 3 infrastructure, 130 interrupted. A panic is 3.
//   - A flag goes before the environment (NICTWIN_ and the flag's name), that before the default.
package main
