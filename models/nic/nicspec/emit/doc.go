// Package emit turns a checked contract into text: the Go of package nicspec, the SystemVerilog package nic_pkg
// and the tables of docs/nic-tables.md.
//
// It writes no files (the gen command does) and has no opinion about the contract (package schema has).
// Invariant: the same contract gives the same bytes.
package emit
