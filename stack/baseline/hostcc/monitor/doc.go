// Package monitor runs the control loop of HostCC (package control) on a core of a host. Once in a period it reads the
// counters of the buffer between PCIe and memory (IIO), which costs the core Spec.SamplePs, and throttles the traffic
// of the host's cores (models/server/host/throttle). Level k passes Spec.Rate / 2^(k−1) for each core, where the
// published implementation has levels of Intel's MBA, and one that stops processes. By default the cores of flows are
// left alone, as there: only the host's other traffic is throttled.
//
// Marking packets is up to the caller, which learns after each sample whether to mark them (Config.Mark). The package
// knows neither NIC nor transport.
//
// The loop rests when the device has written nothing for Spec.ReducePs and nothing is throttled, so that a board comes
// to rest. Wake ends the rest, with averages as they would be, had the loop gone on.
//
// Not modelled: the time that a new level takes to be effective, and interrupts.
//
// Invariants: those of control. While the loop rests, nothing is throttled, and Config.Mark has ended the marks.
package monitor
