// Package inject makes things fail, or come late, around a device: faults,
// delays and back-pressure are decorators, so that no component has options
// for them.
//
// Faults, Gate, Tap, Loss and Wire are components with two ports that are
// inserted into a link: Device is linked to the device, with the latency of the
// link, and Peer to its link partner, without latency. A board inserts only the
// decorators that its spec asks for. Delay is placed before a memory, and Stalls
// select the cycles in which the streams of a device stall.
//
// No board inserts a Tap: recordings of cables and TLPs listen to links and
// devices (scenarios/observe/wiretap, models/nic/boundary), which puts nothing
// in the way. A Tap is for a link that a test makes itself.
//
// Loss selects frames by their ordinal, Wire RoCE packets by their identity, so
// that devices with different timing see the same faults. Insert adds frames of
// its own, which take their time of the cable.
//
// Nothing here judges: the contract says what a device may do about a fault.
//
// Invariants:
//   - Messages that are not struck pass unchanged, in order; frames that Wire
//     holds back are passed by others.
//   - A decorator that may not send takes nothing, so back-pressure passes
//     through it.
//   - Everything is a function of the spec, its seed and the traffic.
package inject
