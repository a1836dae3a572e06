// Package load plays loads of memories beside the traffic of a scenario: programs that share a server, or a card, with
// the applications and stacks, and slow them down by their use of DRAM and caches.
//
// A load of DRAM is a generator in front of the channels (dram.Hog). A load of a last-level cache is software on cores
// that nobody else uses, in the manner of Intel's Memory Latency Checker: walkers read and write a buffer in order at a
// given rate, and a chaser on one more core follows dependent loads through a buffer of its own, whose times are the
// loaded latency. A load of cores is a loop on each core that stack or applications use, which keeps it for a while.
//
// Loads begin and end at given times, counted from the begin of the traffic, and keep no run alive: the traffic's end
// stops them.
//
// Invariants:
//   - A load changes no bytes but those of its own buffers, and wakes no other software.
//   - The same spec and seed give the same accesses at the same times.
package load
