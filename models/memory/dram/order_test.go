package dram_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

var presets = []string{"bf3", "bf3-440", "bf2", "bf2-1600", "host-fn", "host-ce", "host-op"}

// ceiling returns the rate, in Gbps, that a spec sustains for a load of reads, for a load of writes,
// or for one of each with as many reads as writes.
func ceiling(s dram.Spec, loads []*load) float64 {
	mbps := s.Peak
	switch {
	case len(loads) == 2 && s.Mixed != 0:
		mbps = s.Mixed
	case len(loads) == 1 && loads[0].op == mem.Write && s.Write != 0:
		mbps = s.Write
	}
	return float64(mbps) / 1000
}

// Sequential reads, writes and a mix of both must reach the sustained rate of every preset.
func TestSequentialReachesTheCeiling(t *testing.T) {
	for _, name := range presets {
		for _, bytes := range []int{64, 128, 512} {
			for _, loads := range [][]*load{
				{reads(bytes, sequential)}, {writes(bytes, sequential)},
				{reads(bytes, sequential), writes(bytes, sequential)},
			} {
				s := preset(t, name)
				got, _ := sustained(t, s, loads...)
				want := ceiling(s, loads)
				require.InEpsilon(t, want, got, 0.01, "%s: %d streams of %d B, the first %v", name, len(loads), bytes,
					loads[0].op)
			}
		}
	}
}

// Streams whose addresses are a power of two apart, such as messages aligned to their size, must
// not meet in few banks more often than random ones.
func TestStreamsApartByPowersOfTwo(t *testing.T) {
	for _, name := range []string{"bf2", "bf3", "host-ce"} {
		s := preset(t, name)
		mean, least, n := 0.0, math.Inf(1), 0
		for log := 17; log <= 25; log += 2 {
			var got, want float64
			for _, op := range []mem.Op{mem.Write, mem.Read} {
				l := &load{op: op, bytes: 128, depth: 1024, span: 1 << 27, next: packets(1<<log, 3)}
				rate, _ := sustained(t, s, l)
				got, want = got+rate, want+ceiling(s, []*load{l})
			}
			mean, least, n = mean+got/want, min(least, got/want), n+1
		}
		mean /= float64(n)
		t.Logf("%-8s %.3f of the ceiling, at worst %.3f", name, mean, least)
		require.Greater(t, mean, 0.97, name)
		require.Greater(t, least, 0.9, name)
	}
}

// packets returns the addresses of streams that take turns every 1,024 bytes and are distance
// apart.
func packets(distance uint64, streams uint64) func(l *load) uint64 {
	const packet = 1024
	return func(l *load) uint64 {
		at := l.at
		l.at += uint64(l.bytes)
		turn, in := at/packet, at%packet
		return l.base + (turn%streams*distance+turn/streams*packet+in)%l.span
	}
}

// A write to a random address that comes in several TLPs must occupy its bank once: its parts must
// join the one that waits for the bank, and not block all writes behind them.
func TestPartsOfAWriteJoin(t *testing.T) {
	for _, parts := range []uint64{1, 2, 4} {
		l := &load{op: mem.Write, bytes: 64, depth: 127, span: 1 << 27}
		l.next = func(l *load) uint64 {
			if l.at++; l.at%parts == 1 || parts == 1 {
				l.base = random(&load{bytes: 256, span: l.span, rng: l.rng})
			}
			return l.base + (l.at-1)%parts*64
		}
		gbps, _ := sustained(t, preset(t, "bf2"), l)
		writes := gbps / 8 / 64 * 1000 / float64(parts)
		t.Logf("%d lines: %.1f M writes/s", parts, writes)
		bus := 204.8e3 / 8 / 64 / float64(parts)
		require.Greater(t, writes, min(0.8*bus, 120))
	}
}

// distinct returns the mean number of random banks drawn before one is drawn a
// second time (Knuth's Q).
func distinct(banks int) (n float64) {
	p := 1.0
	for i := range banks {
		n += p
		p *= 1 - float64(i+1)/float64(banks)
	}
	return n
}

// A cache with a hashed index evicts the lines of sequential device writes in an order with hardly
// any runs, so nearly each line occupies its bank for BankWrite. Dispatch blocks when a write meets
// a bank for which one waits already. Between two such events, at least as many writes are
// dispatched as random banks are drawn before one repeats, and the wait is at most BankWrite. So the
// time that these writes take without waits, divided by BankWrite, is the least share of the
// ceiling that must be reached, however small the cache is.
func TestHashedEvictionOrder(t *testing.T) {
	for _, name := range []string{"host-fn", "host-ce", "host-op"} {
		for _, size := range []int64{96 << 10, 768 << 10} {
			t.Run(fmt.Sprint(name, " behind ", size>>10, " KB"), func(t *testing.T) {
				s := preset(t, name)
				e := simcore.NewEngine()
				d, _ := newDRAM(t, e, s)
				x, err := armcache.Preset(name)
				require.NoError(t, err)
				x.SizeBytes, x.Ways, x.DeviceWays, x.Index = size, 12, core.FirstWays(2), core.Hashed
				c, err := armcache.Builder{Scheduler: e, Spec: x, Memory: d}.Build("LLC")
				require.NoError(t, err)
				l := writes(256, sequential)
				got, _ := through(t, e, d, c, l)
				n := d.Counters()
				require.Less(t, float64(n.Joined+n.RowHits), 0.15*float64(n.Writes), "hardly any runs")
				tm := s.Timing()
				share := min(1, distinct(s.Banks)*float64(tm.WriteCost)/float64(tm.BankWrite))
				want := ceiling(s, []*load{l})
				t.Logf("%.1f Gbps, %.3f of the ceiling; at least %.3f", got, got/want, share)
				require.Greater(t, got/want, 0.99*share)
			})
		}
	}
}
