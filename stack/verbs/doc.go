// Package verbs is the interface between applications and a network stack:
// requests, completions, states and rights with the names, numbers and meaning
// that libibverbs gives to them.
//
// It is not a stack: it moves no byte and knows no packet.
package verbs
