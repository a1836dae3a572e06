// Package etherlink is Ethernet between NICs, players and switches: Link, a
// cable; Switch; and Bond, several cables as one link (LAG) at a host. Their
// messages are msg.Frame, whose bytes are real.
//
// Link is a sim.Connection between two simcore ports. A frame takes its bytes
// and ether.WireOverhead (preamble, FCS, gap) at the rate, then the latency.
// Ethernet has no credits: a frame that finds its receiver's port full is lost
// and counted. A sender is held back only by its own transmit buffer. A device
// that runs ahead of the engine (RTL behind the bridge) needs a simcore.Link:
// LinkSpec.Plain returns its spec with the same rate and latency. The other end
// is a port of a Switch or of another device. For a Link, Connect returns an
// error that names the device.
//
// Switch has a pipeline for each ingress port, a shared buffer, and a queue for each class at each egress port; its
// decisions are made in etherlink/core. Spec.Latency is from first bit in to first bit out of an idle switch that cuts
// through, from last bit in to first bit out of one that stores and forwards (RFC 1242). A frame to a faster port
// is stored in either mode, because cutting through would underrun. A frame occupies the buffer from the end of the
// pipeline until its last bit has left; frames in a pipeline occupy none. The rate of a port is that of its link.
//
// PFC (IEEE 802.1Qbb): pause frames are real frames. They are sent before all
// others as soon as the current frame has left, and take effect at the end of
// the receiver's pipeline. A pause is refreshed after half of its time. Pauses of
// a whole port (IEEE 802.3 annex 31B) are obeyed, too.
//
// Far represents the device at the other end of a cable if that is simulated in
// another engine: frames that leave go to the caller's Outbox; frames that arrive
// are passed to Deliver with their time of departure. Its link is a simcore.Link.
//
// Not modelled: VLAN membership, spanning tree, ageing of addresses, LACP,
// averaged queue lengths for ECN, dropping in place of marking where a
// transport does not know ECN (such frames are left as they are and counted),
// dynamic thresholds for PFC. Reordering is for decorators (models/inject).
//
// Invariants:
//   - Frames and bytes received, plus copies made for several ports, equal those
//     sent, dropped (by reason), consumed (pauses) and held, at every instant.
//   - Frames of a flow and class keep their order.
//   - Results do not depend on the order of events within an instant: work of an
//     instant sees everything that arrived before it, and ports take turns.
//   - Random decisions depend on the seed and on the number of earlier decisions at
//     the same port.
//   - A frame is changed only by an ECN mark.
//   - Nothing allocates in steady state.
//
// Defaults and their sources are in linkspec.go and spec.go.
package etherlink
