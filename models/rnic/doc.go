// Package rnic is a NIC.
package rnic
