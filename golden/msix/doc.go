// Package msix knows the MSI-X messages that queues owe [M1] to [M5]. It is told
// which completion entries left and which queues are enabled or being disabled,
// and asked whose a write to the address of a message may be.
//
// Queues may send the same message: then it cannot be seen whose it was. What a
// queue owes is therefore followed twice, as if the doubtful messages had been
// its own and as if they had been others', and of messages that several may have
// sent as many have to come as queues surely owe one.
//
// It writes down what is wrong with a message by itself (its data, that none is
// owed, that one is missing). Whether one came in time is its caller's to say,
// who knows when the stream was held back. In steady state it allocates nothing.
//
// References in brackets are rules of docs/nic.md.
package msix
