// Package etherlink is Ethernet between NICs, players and switches: Link, a
// cable; Switch; and Bond, several cables as one link (LAG) at a host. Their
// messages are msg.Frame, whose bytes are real.
//
// Link is a sim.Connection between two simcore ports. A frame takes its bytes
// and ether.WireOverhead (preamble, FCS, gap) at the rate, then the latency.
// Ethernet has no credits: a frame that finds its receiver's port full is lost
// and counted. A sender is held back only by its own transmit buffer. A device
// that runs ahead of the engine (RTL behind the bridge) needs a simcore.Link:
// LinkSpec.Plain is the one with the same rate and latency. It hangs on a port
// of a Switch or of another device; Connect refuses it by name at a Link.
//
// Switch has one pipeline for each port where frames come in, a shared buffer,
// and a queue for each class at each port where they go out; what it decides is
// in etherlink/core. Spec.Latency is from first bit in to first bit out of an
// idle switch that cuts through, from last bit in to first bit out of one that
// stores and forwards (RFC 1242). Cutting through to a faster port would run
// dry: there, frames are stored. A frame is in the buffer from the end of the
// pipeline until its last bit has left; those in a pipeline are held, but not
// counted against the buffer. The rate of a port is that of its link.
//
// PFC (IEEE 802.1Qbb): pause frames are real frames, sent before all others
// when the one that is leaving has left, and obeyed when they have crossed the
// pipeline. A pause is told again when half of its time is over. Pauses of a
// whole port (IEEE 802.3 annex 31B) are obeyed too.
//
// Far is the other end of a cable whose device is simulated elsewhere: what
// leaves goes to an Outbox that the caller has, what comes is handed in with the
// time at which it departed. It is for simcore.Link, with its credits.
//
// Not modelled: VLAN membership, spanning tree, ageing of addresses, LACP,
// averaged queue lengths for ECN, dropping in place of marking where a
// transport does not know ECN (such frames are left as they are and counted),
// dynamic thresholds for PFC. Reordering is for decorators (models/inject).
//
// Invariants:
//   - Frames and bytes in, and copies made of frames for several ports, are
//     those out, dropped (by reason), taken (pauses) and held, at every instant.
//   - Frames of a flow and class keep their order.
//   - What happens at one instant does not depend on the order of events
//     within it: all that came earlier is seen, ports take turns.
//   - Chance comes from the seed and the ordinal of the frame at its place.
//   - A frame is changed only by an ECN mark.
//   - Nothing allocates in steady state.
//
// Defaults and their sources are in linkspec.go and spec.go.
package etherlink
