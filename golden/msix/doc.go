// Package msix tracks the MSI-X messages that queues owe [M1] to [M5]. The caller reports which
// completion entries left and which queues are enabled or being disabled, and asks which queue may
// have written to the address of a message.
//
// Several queues may send the same message: then nobody can see whose it was. Each queue is
// therefore followed twice, as if the doubtful messages had been its own and as if they had been
// others'. In addition, at least as many shared messages must come as queues surely owe one.
//
// The package reports what is wrong with a message by itself: its data, that none is owed, that one
// is missing. Its caller, who knows when the stream was held back, checks that messages come in
// time. Nothing allocates in steady state.
//
// References in brackets are rules of docs/nic.md.
package msix
