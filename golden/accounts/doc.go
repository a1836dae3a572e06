// Package accounts knows what a credit account can be (docs/nic.md, section A).
// account_seq orders the frames that it let pass [A4]; they are followed in that
// order, and every state is kept that the account can be in, given that a write may
// be seen at any time within its window [A5].
//
// An account that the table sets anew begins again at account_seq 0, while frames
// that it had let pass before may still be on their way to their ring.
//
// It is told of writes and of frames, and asked what can be. It holds no frames,
// knows no queues, and reports nothing: who asks it does.
//
// Invariants:
//   - There is a state at all times. A frame that leads to none changes nothing.
//   - In steady state nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package accounts
