// Package receive has the pairs of the receive side: parser, checksums, steering, RSS, accounts, queues and the
// delivery of frames.
//
// Invariants:
//   - Every reference is the function of models/nic/core with the block's name.
package receive
