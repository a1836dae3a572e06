// Package dram is memory with time: a memory controller with its channels and
// banks, as a mem.Target over the mem.Target that holds the bytes.
//
// It is not a model of DRAM commands. It has the few mechanisms that decide the
// throughput of a memory; everything else follows from them:
//   - Channels. Interleave consecutive bytes are in one channel, then the next.
//     With Hash the channel's number is exclusive-ored with the bits above it, so
//     that the beginnings of buffers of 2 KB are in all channels, not in one.
//     A channel's bus carries a burst of 64 B at the peak rate.
//   - Direction. Turning the bus costs Turnaround, so writes are drained in
//     batches of Batch bursts: when that many wait, or one has waited for a long
//     time. Reads get as many bursts before the next drain. A mix of as many reads
//     as writes then sustains the mixed rate.
//   - Write cost. Each write burst uses up WriteCost of a channel's time for
//     writes, during which reads may use the bus. So writes alone sustain the
//     write rate, even if the bus is idle otherwise.
//   - Banks. A row is opened for an access and closed after it, unless the
//     bank's next access continues where this one ends. Otherwise the bank is
//     busy for BankRead or BankWrite. A bank takes its accesses in order; a
//     channel takes the oldest that can start, among Window reads.
//   - Mapping. A row of consecutive bytes shares a bank, or, in servers,
//     Interleave consecutive bytes. The bank's number is exclusive-ored with
//     the bits above it, so that streams a power of two apart seldom meet in one
//     bank.
//   - Posted writes. They are dispatched to their banks in order, one run of
//     lines waiting for each bank; a write that continues where that run ends
//     joins it, up to Batch bursts, so that a device's write that comes in
//     several TLPs opens its row once. A write is done when it is dispatched. So
//     writes to few banks block all writes behind them. A channel with Buffer
//     bursts of writes not yet on its bus is full (mem.Holder): a root in front of
//     it then leaves TLPs in its port. Other accesses that arrive are accepted.
//   - A read is done Latency after its last burst; queueing adds to that.
//
// The bytes move when an access is issued, so the order of accesses at the entry
// of the controller is the order of their effects. Not modelled: refresh (the
// sustained rates include it), ECC's read-modify-write of partial bursts, ranks,
// power states.
//
// Invariants:
//   - The protocol of package mem, whatever holds the bytes.
//   - Bytes accepted = bytes finished + bytes held.
//   - Nothing waits forever: a write's patience ends, so a stream of reads
//     cannot lock it out, and a batch ends, so writes cannot lock out reads.
//   - Nothing is allocated per access, once the DRAM has reached its largest
//     number of accesses in flight.
//   - No mechanism is specific to an experiment: all of this holds for any
//     traffic.
//
// Calibration inputs and their sources (ids of the papers' parameters and
// claims; values without one are assumptions):
//
//	bf3       2 channels      bf3.dram_channels
//	          peak            bf3.dram_peak (716.8 Gbps)
//	          mixed           bf3.dram_achievable_flexins (480 Gbps); bf3-440: bf3.dram_achievable_smartns
//	          write           half of mixed, so that flexins.rx.dram_exhausted_fraction is
//	                          an outcome and not an input: assumption
//	          64 banks        two halves of a DDR5 channel with 32 each: assumption
//	bf2       1 channel       offpath.hw.soc_mem, offpath.hw.dram_channels
//	          peak            204.8 Gbps: 3,200 MT/s on 64 bits, as the vendor's user manual of the
//	                          BlueField-2 DPU has it (one channel, 64 + 8 bits ECC). The paper
//	                          prints DDR4-1600, the clock of that; 1,600 MT/s would be 102.4 Gbps
//	                          (bf2-1600), less than it measures in one direction
//	          mixed, write    no figure: as peak
//	                          So 200 Gbps of reads beside 200 of writes do not pass this channel:
//	                          the 400 of offpath.p2.bidir_limit are those of the links
//	host-fn   8 channels, peak  host.fs_mem (16 modules DDR5-4800 in two sockets): one socket
//	          mixed           host.ddr_bw (160 GB/s)
//	          write           half of mixed, as on the Arm: assumption
//	host-ce   8 channels, peak  ce.mem (DDR4-3200)
//	          mixed           the share of peak that the Arm's has (480/716.8): assumption
//	          hash_channels   controllers of Xeons hash them (Pessl et al., as below); others here do not: their
//	                          experiments have no buffers that are filled in part
//	host-op   8 channels, peak  offpath.hw.dram_channels and the testbed's DDR4-2933; mixed, write as host-ce
//	host-rb   6 channels, peak  DDR4-2400 in all six channels of the part (rb.cpu): assumption, the paper
//	                          gives 128 GB (rb.mem) and no more; mixed, write as host-ce
//	bf*       bank_timing     offpath: 20 ns a read and 44 ns a write in one bank, the anchors
//	                          offpath.p2.skew_read_narrow and offpath.p2.skew_write_narrow
//	          mapping         rows, of 8 KB: as these anchors are read, 1.5 KB lie in one bank and
//	                          48 KB in six (our reading of them; BlueField-3: assumption)
//	host-*    bank_timing     jedec-*: closed page by the speed bin of the part: tRC for a read; tRCD,
//	                          CWL, the burst, tWR and tRP for a write (JESD79-4, JESD79-5: DDR4-2400T
//	                          17-17-17, DDR4-2933Y 21-21-21, DDR4-3200AA 22-22-22, DDR5-4800B
//	                          40-39-39, DDR5-5600B 46-45-45)
//	          mapping         pieces: controllers of servers spread neighbouring lines over bank groups
//	                          and banks (Pessl et al., USENIX Security 2016, a Xeon among them); that a piece is
//	                          as long as the interleave of channels: assumption
//	all       permutation     Zhang, Zhu, Zhang, MICRO 2000; all bits above the bank's: assumption
//	          runs            as long as a drain of writes: assumption
//	          read_latency_ps 90 ns, of the 80 to 150 ns of docs/board.md for memory; host-ce 100 ns, where a
//	                          whole miss costs more than that (ce.miss): assumptions
//	          write_batch 16, read_window 32, write_buffer 64: as gem5's controller has them (Hansson
//	                          et al., ISPASS 2014)
//	          the rest        8 KB rows (eight DDR4 parts with pages of 1 KB); 256 B interleave: assumption
//
// The anchors leave a question open: 44 ns and 20 ns are less than a closed row
// takes by the standard (55 and 46), and much more than a row that stays open
// (2.5), as the row of 1.5 KB would. So they are not the times of DRAM alone:
// they stand for the time that the controller of BlueField-2 takes for accesses
// that meet in one bank, and are not used for servers.
//
// A Hog loads a memory at a rate, as other programs would. Over DRAM.Background it takes time on the
// channels and leaves the bytes alone.
package dram
