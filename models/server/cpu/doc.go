// Package cpu models processor cores that run software to completion and
// account for its time.
//
// Software consists of loops. A core calls the step of one loop after the other.
// A step does its work on real bytes at once, and records the operations that
// take time: cycles, loads, stores, copies, register accesses. The core then
// replays the record in time, in program order, through its memory (a mem.Target,
// so through caches), before the next step begins. Software outside of loops (a
// callback, set-up) records in the same way, and begins at the next poll.
//
//   - A load returns the bytes of memory at the moment of recording, overlaid by
//     the core's unfinished stores; the replay takes the time. The core waits
//     for a load, whose lines are fetched Misses at a time, but not for a
//     Prefetch.
//   - A store is posted: it takes effect when it is replayed, and blocks the core
//     only while Stores of them are in flight. Stores to consecutive lines travel
//     as one access where memory takes runs (mem.Runner): results are identical,
//     with fewer events.
//   - A register write leaves when all earlier stores have taken effect, and
//     stalls the core for MMIOPost per 64 B (write combining). A register read
//     stalls the core until its completion.
//   - A copy loads and stores line by line, at the rate Copy or as fast as its
//     lines arrive, whichever is slower. Its stores may be reordered.
//   - A lock of software (Acquire) stalls the core until it has the lock.
//   - A Clean or Invalidate stalls the core until it is done; steps that begin
//     later see its effect.
//
// # Idle loops cost no events
//
// A step that finds nothing is a poll, and lasts the loop's Poll. The loop then
// sleeps: the core computes the instants at which it would be polled, in turn
// with the core's other loops, and from them the first poll that sees a write to
// a line that the loop watches. A poll sees writes that took effect before its
// instant. A core whose loops all sleep has no event. Loops that sleep beside a
// working one cost the time of their polls, but no events.
//
// Not modelled: instructions, pipeline and speculation (a step's cycles are
// declared by its author), interrupts and preemption. Skipped polls do not touch
// the caches, although real ones would keep their lines recently used there.
//
// Invariants:
//   - The same calls at the same times give the same times, on any engine.
//   - A sleeping loop runs the same steps at the same times as one that is really
//     polled.
//   - Stores and register writes take effect in program order.
//   - Nothing is allocated once a core has reached its largest number of accesses
//     in flight.
//
// Sources of the presets (ids of the papers' parameters; values without one are
// assumptions):
//
//	bf3      16 cores        bf3.arm_cores; 12 of them for data, by the same parameter
//	         clock           2.5 GHz: assumption
//	bf2      8 cores, clock  bf2.soc (2.75 GHz)
//	host-fn  16 cores, clock host.fs_cpu: one socket
//	host-ce  16 cores, clock ce.cpu, as printed: one socket
//	host-op  12 cores, clock bf2.host: one socket
//	host-rb  12 cores, clock rb.cpu: one socket
//	all      copy            host.memcpy (7 GB/s); the Arm cores' the same: assumption
//	         misses          12 (10 on bf2): assumption
//	         stores          32 (16 on bf2): assumption
//	         mmio_post_ps    200 ns on Arm, 120 ns on hosts: of the 276 ns and 469 ns that posting a
//	                         request takes in the off-path study (Advice 4), the part that is not
//	                         building the entry, polling or the remote socket: assumption
package cpu
