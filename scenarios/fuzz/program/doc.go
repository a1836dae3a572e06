// Package program is the format of random programs: what an operation of a driver, of a sender or of a fault is, how
// files and recipes say it, and which programs are legal.
//
// It plays nothing and draws nothing.
//
// Invariants:
//   - A program that Validate accepts can be played on any NIC of its build.
//   - Part of a legal program is legal, so that programs can be shrunk.
package program
