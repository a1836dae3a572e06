// Package control is the control loop of HostCC as a function of samples: from the occupancy of the buffer between PCIe
// and memory (IIO) and the use of the link it decides how far to throttle the host's own memory traffic, and whether to
// mark packets as congestion experienced.
//
//	                     link below its target          link above its target
//	occupancy high       throttle a level more; mark    mark
//	occupancy low        –                              throttle a level less
//
// Both signals are moving averages. A level more is taken with each sample, a level less once in Spec.ReducePs at most.
// The rules, thresholds and averages are those of HostCC's published implementation (Terabit-Ethernet/hostCC,
// src/hostcc-local-response.c, hostcc-signals.c and hostcc-network-response.c).
//
// That one never lowers the level while the link is below its target. Nor does this one while there is traffic. When
// the device has written nothing for Spec.ReducePs, the traffic is over, and the host gets its memory back by the same
// steps. Rare packets and slow cores do not count as an end.
//
// The package is pure: it knows neither time but what its caller tells, nor host, nor driver.
//
// Invariants:
//   - The level stays from 0 to Spec.Levels and changes by at most one with a sample.
//   - Between two steps down lie Spec.ReducePs or more.
//   - The same samples give the same decisions.
package control
