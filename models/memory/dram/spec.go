package dram

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// burstBytes is the size of a burst.
const burstBytes = mem.LineBytes

// Spec configures a DRAM: all channels of one memory controller. Rates are the sum over all
// channels.
type Spec struct {
	Channels   int    `yaml:"channels"`
	Interleave int    `yaml:"interleave_bytes"` // consecutive bytes in one channel
	Hash       bool   `yaml:"hash_channels"`    // the channel's number is permuted by the bits above it, as the bank's
	Banks      int    `yaml:"banks"`            // per channel
	RowBytes   int    `yaml:"row_bytes"`        // size of the row that a bank has open
	Mapping    string `yaml:"mapping"`          // of a channel's bytes to its banks: Rows or Pieces
	Peak       int64  `yaml:"peak_mbps"`        // of the data buses
	// sustained rate of as many reads as writes; 0: as Peak, bus turnarounds cost nothing
	Mixed int64 `yaml:"mixed_mbps"`
	// sustained rate of writes alone; 0: as Peak, writes cost no more than reads
	Write      int64      `yaml:"write_mbps"`
	Batch      int        `yaml:"write_batch"`     // bursts after which the bus may turn
	Window     int        `yaml:"read_window"`     // reads that a channel chooses from
	Buffer     int        `yaml:"write_buffer"`    // bursts of writes that fill a channel
	BankTiming string     `yaml:"bank_timing"`     // name of an entry of BankTimings
	Latency    simcore.Ps `yaml:"read_latency_ps"` // of a read from idle memory, without its bursts
}

// Values of Mapping. With either, the bank's number is permuted by the address bits above it, as
// memory controllers do, so that streams a power of two apart do not keep meeting in one bank.
const (
	Rows   = "rows"   // RowBytes consecutive bytes of a channel are in one bank
	Pieces = "pieces" // consecutive pieces of Interleave bytes are in different banks: a row has pieces from far apart
)

// stripe returns the number of consecutive bytes of a channel that lie in one bank.
func (s Spec) stripe() uint64 {
	if s.Mapping == Pieces {
		return uint64(s.Interleave)
	}
	return uint64(s.RowBytes)
}

// bank returns the bank of an address in a channel: the number of its stripe, folded to the bits of a bank number.
func (s Spec) bank(local uint64) int { return fold(local/s.stripe(), s.Banks) }

// channel returns the channel of the n-th piece of Interleave bytes.
func (s Spec) channel(n uint64) int {
	if s.Hash {
		return fold(n, s.Channels)
	}
	return int(n % uint64(s.Channels))
}

// fold returns the exclusive-or of all groups of bits of n, each as wide as the numbers below a power of two.
func fold(n uint64, power int) int {
	width := bits.TrailingZeros(uint(power))
	if width == 0 {
		return 0
	}
	b := uint64(0)
	for ; n > 0; n >>= width {
		b ^= n & uint64(power-1)
	}
	return int(b)
}

// Timing holds the times that follow from a spec.
type Timing struct {
	Burst      simcore.Ps // a burst of 64 B on the bus of a channel
	WriteCost  simcore.Ps // part of a channel's time for writes that a write burst uses up; at least Burst
	Turnaround simcore.Ps // time that the bus is idle when its direction changes
	BankRead   simcore.Ps // time from a read burst to the next access of the same bank
	BankWrite  simcore.Ps // time from a write burst to the next access of the same bank
	Latency    simcore.Ps
}

// BankTiming holds the times that a bank is busy with one burst, including opening and closing its
// row.
type BankTiming struct{ Read, Write simcore.Ps }

// bankTimings are the bank timings by name; see the package comment.
var bankTimings = map[string]BankTiming{
	"offpath":         {Read: 20_000, Write: 44_000},
	"jedec-ddr4-2400": {Read: 46_160, Write: 14_160 + 10_000 + 3_330 + 15_000 + 14_160},
	"jedec-ddr4-3200": {Read: 45_750, Write: 13_750 + 10_000 + 2_500 + 15_000 + 13_750},
	"jedec-ddr4-2933": {Read: 46_320, Write: 14_320 + 10_900 + 2_730 + 15_000 + 14_320},
	"jedec-ddr5-4800": {Read: 48_250, Write: 16_250 + 15_830 + 3_330 + 30_000 + 16_250},
	"jedec-ddr5-5600": {Read: 48_430, Write: 16_430 + 15_710 + 2_860 + 30_000 + 16_430},
}

// BankTimings returns the bank timings by name.
func BankTimings() map[string]BankTiming { return maps.Clone(bankTimings) }

// Timing derives the times from the rates. At the mixed rate, a number of bursts takes longer than
// the bursts themselves; the difference is the time of turning the bus twice for every Batch reads
// and Batch writes.
func (s Spec) Timing() Timing {
	per := func(mbps int64) simcore.Ps {
		const bitPs = burstBytes * 8 * 1_000_000 // bits of a burst, times picoseconds per microsecond
		return simcore.Ps((int64(s.Channels)*bitPs + mbps/2) / mbps)
	}
	b := bankTimings[s.BankTiming]
	t := Timing{Burst: per(s.Peak), BankRead: b.Read, BankWrite: b.Write, Latency: s.Latency}
	t.WriteCost = t.Burst
	if s.Write != 0 {
		t.WriteCost = per(s.Write)
	}
	if s.Mixed != 0 {
		t.Turnaround = simcore.Ps(s.Batch) * (per(s.Mixed) - t.Burst)
	}
	return t
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string, against ...field.Path) {
		errs = append(errs, field.Against(field.Errorf(path, "%v: want %s", got, want), against...))
	}
	within := func(path field.Path, v, low, high int) {
		if v < low || v > high {
			bad(path, v, fmt.Sprintf("%d to %d", low, high))
		}
	}
	power := func(path field.Path, v int) {
		if v < burstBytes || v > 1<<20 || bits.OnesCount(uint(v)) != 1 {
			bad(path, v, "a power of two from 64 to 2^20")
		}
	}
	within("channels", s.Channels, 1, 64)
	if s.Hash && bits.OnesCount(uint(s.Channels)) != 1 {
		bad("channels", s.Channels, "a power of two, or hash_channels: false", "hash_channels")
	}
	power("interleave_bytes", s.Interleave)
	if s.Banks < 1 || s.Banks > 1024 || bits.OnesCount(uint(s.Banks)) != 1 {
		bad("banks", s.Banks, "a power of two from 1 to 1024")
	}
	if power("row_bytes", s.RowBytes); s.RowBytes < s.Interleave {
		bad("row_bytes", s.RowBytes, "interleave_bytes or more", "interleave_bytes")
	}
	if s.Mapping != Rows && s.Mapping != Pieces {
		bad("mapping", fmt.Sprintf("%q", s.Mapping), fmt.Sprintf("%q or %q", Rows, Pieces))
	}
	const most = 100_000_000
	if s.Peak < 1 || s.Peak > most {
		bad("peak_mbps", s.Peak, "1 to 10^8")
	}
	if s.Mixed < 0 || s.Mixed > s.Peak {
		bad("mixed_mbps", s.Mixed, "0 (as peak_mbps) to peak_mbps", "peak_mbps")
	}
	if s.Write < 0 || s.Write > s.Peak {
		bad("write_mbps", s.Write, "0 (as peak_mbps) to peak_mbps", "peak_mbps")
	}
	within("write_batch", s.Batch, 1, 1024)
	within("read_window", s.Window, 1, 1024)
	if s.Buffer < s.Batch || s.Buffer > 1<<16 {
		bad("write_buffer", s.Buffer, "write_batch to 65536", "write_batch")
	}
	if _, ok := bankTimings[s.BankTiming]; !ok {
		bad("bank_timing", fmt.Sprintf("%q", s.BankTiming),
			fmt.Sprintf("one of %v", slices.Sorted(maps.Keys(bankTimings))))
	}
	if s.Latency < 0 || s.Latency > simcore.Millisecond {
		bad("read_latency_ps", int64(s.Latency), "0 to 1 ms")
	}
	return errors.Join(errs...)
}
