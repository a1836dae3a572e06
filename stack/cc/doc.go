// Package cc implements congestion control: how fast, or how far ahead of its acknowledgements, a connection may send.
// It has three algorithms behind one interface: DCQCN, DCTCP, and a fixed rate.
//
// It is pure: it knows neither packets nor timers. A transport reports to a Controller what was sent, acknowledged,
// lost and notified, and when; it asks for Rate and Window before it sends, and calls Tick at the time that Next
// returns. Gap converts a rate to the time between packets. Marker is the receiving side of DCQCN: it decides when a
// congestion notification packet (CNP) leaves.
//
// Times are integer picoseconds that must not go back. Rates are bits per second
// of whatever the caller counts as bytes.
//
// Arithmetic uses integers, so results are the same everywhere: fractions are in units of 2^-32, rates and windows are
// rounded to whole bits and bytes.
//
// Invariants:
//   - A rate is never above line rate or below the minimum, a window never below one segment.
//   - A call first handles timers that are due; events at one instant take effect in the order of the calls.
//   - Nothing allocates after New.
//
// References: "DCQCN" is Zhu et al., Congestion Control for Large-Scale RDMA
// Deployments, SIGCOMM 2015; "QCN" IEEE 802.1Qau; "DCTCP" Alizadeh et al.,
// Data Center TCP, SIGCOMM 2010; "RFC 8257" its later description.
package cc
