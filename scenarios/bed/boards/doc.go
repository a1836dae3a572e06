// Package boards finds boards by name or file for the command line, and draws them.
//
// A board is a preset of models/board, or a file that its ParseRack accepts. Replays and random programs need a board
// with exactly one card, whose Ethernet ports are open.
//
// It runs nothing. The meaning of fields, and their validation, belong to models/board.
package boards
