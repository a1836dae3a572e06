// Package nicspec is the NIC's contract as data.
package nicspec

//go:generate go run ./gen
