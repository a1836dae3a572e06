// Package program defines the format of random programs: operations of a driver, of a sender and of faults, how they
// are written in files, and which programs are legal.
//
// It plays nothing and draws nothing.
//
// Invariants:
//   - A program that Validate accepts can be played on any NIC of its build.
//   - Any part of a legal program is legal, so that programs can be shrunk.
package program
