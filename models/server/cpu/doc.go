// Package cpu is processor cores that run software to completion and pay for
// its time.
//
// Software is loops. A core calls the step of one loop after the other; a step
// does its work on real bytes at once, and records what that costs: cycles,
// loads, stores, copies, register accesses. The core then replays the record in
// time, in program order, through its memory (a mem.Target, so through caches),
// and only then goes on to the next step. Software outside of loops (a callback,
// set-up) records in the same way, and begins at the next poll.
//
//   - A load's bytes are those of the moment at which it is recorded, under the
//     stores that this core has not finished; replaying it costs the time. A
//     load waits; its lines are fetched Misses at a time. Nobody waits for a
//     Prefetch.
//   - A store is posted: it takes effect when it is replayed, and holds the core
//     only while Stores of them are under way. Stores to consecutive lines travel
//     as one access where memory takes runs (mem.Runner): nothing comes out
//     otherwise, but with fewer events.
//   - A register write leaves when all earlier stores took effect, and holds
//     the core for MMIOPost per 64 B (write combining). A register read stalls
//     the core until its completion.
//   - A copy loads and stores line by line, at the rate Copy or as its lines
//     come, whichever is slower. Its stores may change places.
//   - A Clean or Invalidate holds the core until it is done; steps that begin
//     later see what it did.
//
// # Idle loops cost no events
//
// A step that finds nothing is a poll, and lasts the loop's Poll. The loop then
// sleeps: the core keeps the instants at which it would be polled, in turn with
// the other loops of the core, and computes the first that sees a write to a
// line that the loop watches. A poll sees what took effect before its instant.
// A core whose loops all sleep has no event. Loops that sleep beside one that
// works cost their polls, and no events.
//
// It knows no instructions, no pipeline and no speculation; a step's cycles are
// what its author declares. There are no interrupts and no preemption. Polls
// that are skipped do not touch the caches, though they would keep their lines
// young there.
//
// Invariants:
//   - The same calls at the same times give the same times, on any engine.
//   - What a sleeping loop does, and when, is what a core that polls would do.
//   - Stores and register writes take effect in program order.
//   - Nothing is allocated once a core has seen what it will see at a time.
//
// Where the presets come from (ids of the papers' parameters; what has none is
// an assumption):
//
//	bf3      16 cores        bf3.arm_cores, 12 of them for data (there)
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
