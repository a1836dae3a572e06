// Package armcache is the last-level cache of a processor, between devices and
// cores on one side and memory on the other: that of the card's Arm cores and,
// with other numbers, that of a server. It is a mem.Target over a mem.Target.
//
// What it does with tags and bytes is package core, which knows no time. This
// package adds the order of accesses, the fetches and write-backs under way,
// and time:
//   - Accesses take their turn in the order of arrival. Each occupies the
//     pipeline for the lines that it touches at the cache's rate; fills and
//     write-backs are not charged to it.
//   - A run of a core's stores (mem.Runner) takes a turn for each of its lines.
//   - A hit is done HitLatency after its turn; a miss HitLatency after memory
//     brought the last of its bytes. A Clean waits for its write-backs.
//   - A write is done without waiting for the rest of its line.
//   - Reads of a line that is being fetched wait for that fetch.
//   - The access at the head, and with it those behind it, waits while there is
//     no room for a fetch or a write-back that it needs, while every way that
//     it may use is being fetched, or while a line that it cleans or
//     invalidates is. So a memory that cannot keep up slows down its writers.
//
// Not modelled: coherence between caches (private caches of cores are in the
// host's and the processor's models), prefetching, the slices of a cache and the
// interconnect between them.
//
// Invariants:
//   - The protocol of package mem, whatever memory lies behind.
//   - Bytes accepted = bytes finished + bytes held.
//   - Nothing is allocated per access, once the cache has reached its largest
//     number of accesses in flight.
//   - Results do not depend on the order of events within one instant, except
//     that of accesses and of memory's completions: an access issued at the
//     instant at which a fetch ends sees it ended or not, as the engine orders
//     the two.
//
// Where the presets come from (ids of the papers' parameters and claims):
//
//	bf3       size            bf3.arm_llc (16 MB; all of it may hold device writes)
//	          rate            bf3.arm_llc_bw (1,200 Gbps)
//	          line            bf3.cacheline (64 B)
//	          ways, index, replacement, latency, fetches, write-backs: assumption
//	host-fn   size            host.fs_llc (37.5 MiB)
//	          ways            15, as public descriptions of the part say; devices get 2 of
//	                          them, the usual default (ceio.bg.ddio_default_ways): assumption
//	          rate            no figure: not capped
//	host-ce   size            ce.llc (12 MB)
//	          ways            12; devices get 2 (ceio.bg.ddio_default_ways)
//	host-ce-6 the same, devices get 6 of 12 ways (ce.ddio)
//	host-op   size            18 MB: assumption. The paper only names the part (bf2.host, two
//	                          Xeon Gold 5317 of 12 cores); no paper gives its size
//	          ways            12 slices' worth of 12 ways, devices get 2, as host-ce: assumption
//	host-rb   size, ways      16.5 MB of 11 ways: assumption. The paper only names the part (rb.cpu,
//	                          two Xeon Gold 5118 of 12 cores); devices get 2, the usual default
//
// BlueField-2 has none: its devices write to DRAM (offpath.hw.soc_no_ddio), so a
// bf2 card has no armcache before its memory.
package armcache
