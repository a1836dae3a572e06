// Package boards finds boards by name or file for the command line, and draws
// them.
//
// A board is a preset of models/board, or a file that its ParseRack takes. A
// replay or a random program is played on the one card of a board that has just
// one, with open Ethernet ports.
//
// It runs nothing. What a field means, and what is wrong with it, models/board
// says.
package boards
