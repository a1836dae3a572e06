// Package etherlink is Ethernet between NICs, players and switches: Link, a
// cable; Switch; and Bond, several cables as one link (LAG) at a host. Their
// messages are msg.Frame, whose bytes are real.
//
// Link is a sim.Connection between two simcore ports. A frame takes its bytes
// and ether.WireOverhead (preamble, FCS, gap) at the rate, then the latency.
// Ethernet has no credits: a frame that finds its receiver's port full is lost
// and counted. A sender is held back only by its own transmit buffer. A device
// that runs ahead of the engine (RTL behind the bridge) needs a simcore.Link:
// LinkSpec.Plain returns one with the same rate and latency. Such a device is
// plugged into a port of a Switch or of another device; Connect refuses it by
// name at a Link.
//
// Switch has a pipeline for each ingress port, a shared buffer, and a queue for each class at each egress port; its
// decisions are made in etherlink/core. Spec.Latency is from first bit in to first bit out of an idle switch that cuts
// through, from last bit in to first bit out of one that stores and forwards (RFC 1242). Cutting through to a faster
// port would run dry: there, frames are stored. A frame is in the buffer from the end of the pipeline until its last
// bit has left; those in a pipeline are held, but not counted against the buffer. The rate of a port is that of its
// link.
//
// PFC (IEEE 802.1Qbb): pause frames are real frames, sent before all others as
// soon as the current one has left, and obeyed when they have crossed the
// pipeline. A pause is refreshed when half of its time is over. Pauses of a
// whole port (IEEE 802.3 annex 31B) are obeyed, too.
//
// Far is the other end of a cable whose device is simulated elsewhere: frames
// that leave go to the caller's Outbox, frames that arrive are handed in with
// the time at which they departed. It is for simcore.Link, with its credits.
//
// Not modelled: VLAN membership, spanning tree, ageing of addresses, LACP,
// averaged queue lengths for ECN, dropping in place of marking where a
// transport does not know ECN (such frames are left as they are and counted),
// dynamic thresholds for PFC. Reordering is for decorators (models/inject).
//
// Invariants:
//   - Frames and bytes received, plus copies made for several ports, equal those
//     sent, dropped (by reason), taken (pauses) and held, at every instant.
//   - Frames of a flow and class keep their order.
//   - What happens at one instant does not depend on the order of events
//     within it: everything that arrived earlier is seen, ports take turns.
//   - Chance comes from the seed and the ordinal of the frame at its place.
//   - A frame is changed only by an ECN mark.
//   - Nothing allocates in steady state.
//
// Defaults and their sources are in linkspec.go and spec.go.
package etherlink
