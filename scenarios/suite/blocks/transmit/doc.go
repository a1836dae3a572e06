// Package transmit has the pairs of the transmit side: work entries and keys, queues, gathering, offloads, copies, and
// the reader that serves them.
//
// Invariants:
//   - Every reference is the function of models/nic/core, or of models/nic/dma, with the block's name.
package transmit
