// Package replay plays captured frames through a NIC, in both directions, and has the referee watch.
//
// It runs on a scenarios/bed/testbed. On receive the players send the frames in; rules spread them over queues with
// different header splits. On transmit each frame is cut into inline bytes, header and payload pieces, which are put
// into Arm and host memory and named by work entries; the frame must come out again.
//
// Two independent checks are made: by the referee at the NIC's ports, and by this package, end to end, of memory,
// completion entries and frames against the capture.
//
// The frames come from a traffic.Supply, which reads captures as they are played; what must be delivered or come out is
// kept only while it is in flight.
//
// It is no traffic generator and checks no timing.
//
// Invariants:
//   - Every frame offered is accounted for at the end: delivered, sent, or counted as dropped or refused by the NIC.
//   - Memory does not depend on how many frames are played.
//   - The same options and captures give the same events, whatever the quantum and mode of the bridge.
package replay
