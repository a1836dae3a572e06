// Package inject makes things go wrong, or late, around a device: faults,
// delays and back-pressure are decorators, so that no component has options
// for them.
//
// Faults, Gate, Tap, Loss and Wire are components with two ports that stand in a link:
// Device is linked to the device, with the latency of the link, and Peer to
// the one that the device speaks to, at no latency. A board inserts only those
// that it wants. Delay stands before a memory, and Stalls say in which cycles
// the streams of a device stand still.
//
// Loss strikes frames by their ordinal, Wire packets of RoCE by what they are:
// devices of other timing see the same faults.
//
// Nothing here judges: what a device may do about a fault is in the contract.
//
// Invariants:
//   - What is not struck passes unchanged, in order; frames that Wire holds back
//     are passed by others.
//   - A decorator that may not send takes nothing, so back-pressure goes
//     through it.
//   - Everything is a function of the spec, its seed and the traffic.
package inject
