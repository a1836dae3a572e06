package copies

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// Checks cover the Copy opcodes: layouts, order, statuses, failing reads.
var Checks = []kit.Check{
	{Name: "copy/lengths and addresses", Rules: "D1 D2 D6 P3 P4 C2", Stalls: kit.Stalled, Run: copyLayouts},
	{Name: "copy/MPS and MRRS", Rules: "D2 P3 G8", Stalls: kit.Calm, Run: copyLimits},
	{Name: "copy/the longest", Rules: "D1 D2 D6", Stalls: kit.Calm, Run: longestCopy},
	{Name: "copy/ranges that overlap", Rules: "D2", Stalls: kit.Calm, Run: overlappingCopies},
	{Name: "copy/rate", Rules: "D9", Stalls: kit.Calm, Run: copyRate},
	{Name: "copy/order with what is sent", Rules: "D8 T10", Stalls: kit.Stalled, Run: copiesAndSends},
	{Name: "copy/channels", Rules: "D7 T1", Stalls: kit.Stalled, Run: copyChannels},
	{Name: "copy/disabled while a copy is under way", Rules: "T11 D6", Stalls: kit.Stalled, Run: copyDisabled},
	{Name: "copy/statuses", Rules: "D1 T3 T10", Stalls: kit.Stalled, Run: copyStatuses},
	{Name: "copy/order of the checks", Rules: "D1", Stalls: kit.Calm, Run: copyStatusOrder},
	{Name: "copy/reads that fail", Rules: "D3 P6", Stalls: kit.Stalled, Run: copyFaults},
	{Name: "copy/several reads that fail", Rules: "D3 P6", Stalls: kit.Stalled, Run: copyManyFaults},
	{Name: "copy/reads after one has failed", Rules: "D3", Stalls: kit.Calm, Run: copyStops},
	{Name: "copy/sources of nothing", Rules: "D3 P6", Stalls: kit.Calm, Run: copyOfNothing},
}

// CopySetup opens a transmit queue and a window to each memory, to be read and written.
func CopySetup(r *kit.Rig, q, log int) (*kit.TxRing, []*kit.Window) {
	r.T.Helper()
	x, w := r.TxSetup(q, log)
	for _, w := range w {
		r.Writable(w)
	}
	return x, w
}

// Copied waits for the ends of posted copies, and checks each destination and the counters.
func Copied(r *kit.Rig, x *kit.TxRing, entries []nicspec.WqeFields) {
	r.T.Helper()
	r.Quiet()
	before, total := r.Counters(), 0
	var sources [][]byte
	for i := range entries {
		s := kit.Segments(&entries[i])
		sources = append(sources, r.Load(r.BusOf(s[0]), int(s[0].Len)))
		total += int(s[0].Len)
	}
	r.Transmit(x, entries...)
	r.Quiet()
	for i := range entries {
		r.CheckDestination(kit.Segments(&entries[i])[1], sources[i])
	}
	r.Moved("copies", before,
		kit.Steps{kit.DevCounter(nicspec.CntTxCqe): kit.Free}.With(kit.DevCounter(nicspec.CntTxWqe),
			len(entries)).With(kit.DevCounter(nicspec.CntCopyBytes), total))
}

func copyLayouts(r *kit.Rig) {
	x, w := CopySetup(r, 3, 5)
	rng := rand.New(rand.NewPCG(41, 9))
	var all []nicspec.WqeFields
	for i, n := range []int{1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 60, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257, 511, 513,
		1000, 4095, 4096, 4097, 9000, 20000} {
		for k := range 4 {
			src := r.Piece(w[k&1], rng.IntN(128), 128, kit.Pattern(n, rng.Uint64()))
			e := kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[k>>1], rng.IntN(128), 128, n))
			e.FComplete = (i+k)%3 > 0
			all = append(all, e)
		}
	}
	for before := range 20 { // source and destination begin around a 4 KB boundary
		n := 1 + rng.IntN(300)
		src := r.Piece(w[before&1], 4096-before*7, 4096, kit.Pattern(n, rng.Uint64()))
		all = append(all,
			kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[before>>1&1], 4096-kit.Guard-rng.IntN(160),
				4096, n)))
	}
	Copied(r, x, all)
}

func copyLimits(r *kit.Rig) {
	x, w := CopySetup(r, 2, 4)
	rng := rand.New(rand.NewPCG(42, 9))
	for mrrs := range uint32(6) {
		r.Quiet()
		r.SetDevctl(mrrs%3, mrrs, 0)
		r.Synced()
		longest := [2]int{}
		r.Watch = func(c boundary.Crossing) {
			if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && h.Kind.IsMemory() {
				longest[h.Kind-tlp.MRd] = max(longest[h.Kind-tlp.MRd], int(h.Length)*4)
			}
		}
		var all []nicspec.WqeFields
		for i, n := range []int{700, 5000, 12345} {
			src := r.Piece(w[i&1], rng.IntN(64), 64, kit.Pattern(n, rng.Uint64()))
			all = append(all, kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[1-i&1], rng.IntN(64), 64, n)))
		}
		Copied(r, x, all)
		r.Watch = nil
		require.LessOrEqual(r.T, longest[0], 128<<mrrs, "reads")
		require.LessOrEqual(r.T, longest[1], 128<<(mrrs%3), "writes")
	}
}

// Wide returns a window with room for n bytes.
func Wide(r *kit.Rig, index, endpoint, n int) *kit.Window {
	r.T.Helper()
	w := r.Window(index, endpoint, n)
	r.Writable(w)
	return w
}

func longestCopy(r *kit.Rig) {
	x, _ := CopySetup(r, 1, 2)
	a, b := Wide(r, 5, nicspec.EndpointArm, nicspec.CopyMax+64),
		Wide(r, 6, nicspec.EndpointHost, nicspec.CopyMax+4*kit.Guard)
	src := kit.Pattern(nicspec.CopyMax, 1)
	s := r.Piece(a, 0, 64, src)
	d := r.Destination(b, 0, 64, nicspec.CopyMax)
	all := r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, s, d))
	r.RingDoorbell(&x.Ring)
	r.Run(nicspec.CopyMax / nicspec.LineBytes)
	r.Ended(x, 0, all)
	r.CheckDestination(d, src)
	require.EqualValues(r.T, nicspec.CopyMax, r.Read2(nicspec.RegCounter(kit.DevCounter(nicspec.CntCopyBytes))))
	s.Len, d.Len = nicspec.CopyMax+1, nicspec.CopyMax+1
	r.Transmit(x, kit.CopyEntry(nicspec.OpcodeCopy, s, d))
}

// overlappingCopies copies between ranges that overlap. The order of reads and writes is free, but each byte is written
// once.
func overlappingCopies(r *kit.Rig) {
	x, w := CopySetup(r, 1, 3)
	for _, shift := range []int{0, 1, 63, 64, 1000, -1, -64, -999} {
		const n = 5000
		s := r.Piece(w[0], 2000, 4096, kit.Pattern(n, uint64(shift)))
		d := s
		d.Addr += uint64(shift)
		written := map[uint64]int{}
		r.Watch = writes(r, written)
		r.Transmit(x, kit.CopyEntry(nicspec.OpcodeCopy, s, d))
		r.Quiet()
		r.Watch = nil
		for i := range uint64(n) {
			require.Equal(r.T, 1, written[r.BusOf(d)+i], "shift %d: writes of byte %d", shift, i)
			delete(written, r.BusOf(d)+i)
		}
		require.Equal(r.T, nicspec.CqeBytes, len(written), "bytes written elsewhere: one completion entry")
		if shift == 0 {
			require.Equal(r.T, kit.Pattern(n, 0), r.Load(r.BusOf(d), n))
		}
	}
}

// writes returns an observer that counts the writes of each byte.
func writes(r *kit.Rig, count map[uint64]int) func(boundary.Crossing) {
	return func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		if c.Kind != boundary.TLPOut || h.Kind != tlp.MWr {
			return
		}
		off, n := h.Span()
		for i := range n {
			count[h.Address+uint64(off)+uint64(i)]++
		}
	}
}

// copyRate checks that copies of 4 KB and one long copy reach 64 B a cycle.
func copyRate(r *kit.Rig) {
	r.SetDevctl(2, 5, 0)
	x, _ := CopySetup(r, 1, 7)
	a, b := Wide(r, 5, nicspec.EndpointArm, 1<<20), Wide(r, 6, nicspec.EndpointHost, 1<<20+4*kit.Guard)
	for _, n := range []int{4096, 1 << 18} {
		var all []nicspec.WqeFields
		for range 1 << 18 / n {
			all = append(all, kit.CopyEntry(nicspec.OpcodeCopy, r.Piece(a, 0, 64, kit.Pattern(n, 1)),
				r.Destination(b, 0, 64, n)))
		}
		var first, last int64
		r.Watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			switch ours := h.Address>>nicspec.EndpointShift == nicspec.EndpointHost && h.Length > nicspec.CqeBytes/4; {
			case c.Kind != boundary.TLPOut || h.Kind != tlp.MWr || !ours:
			case first == 0:
				first, last = c.Last, c.Last
			default:
				last = c.Last
			}
		}
		r.Transmit(x, all...)
		r.Watch = nil
		require.Less(r.T, last-first, int64(1<<18/nicspec.LineBytes*11/10), "cycles for 256 KB in copies of %d B", n)
	}
}

// copiesAndSends makes one queue copy and send in turn: each frame is what the copy before it wrote, and each copy
// overwrites the frame before it in memory.
func copiesAndSends(r *kit.Rig) {
	x, w := CopySetup(r, 6, 5)
	buf := r.Piece(w[0], 5, 64, kit.Pattern(3000, 1))
	var all []kit.Posted
	for i := range 24 {
		n := 100 + i*113
		data := kit.Pattern(n, uint64(100+i))
		from, to := r.Piece(w[i%2], i, 64, data), buf
		to.Len = uint32(n)
		c := kit.CopyEntry(nicspec.OpcodeCopy, from, to)
		c.FComplete = i%2 > 0
		c.WqeId = uint32(i)
		s := kit.SendEntry(nil, to)
		s.WqeId = uint32(i) | 1<<16
		all = append(all, kit.Posted{LongEntry: kit.One(c), Status: nicspec.StatusOk},
			kit.Posted{LongEntry: kit.One(s), Frame: data, Status: nicspec.StatusOk})
	}
	for len(all) > 0 {
		n, first := min(len(all), x.Size()), x.PI
		for i := range all[:n] {
			r.StoreEntry(x, x.PI, &all[i].LongEntry)
			x.PI++
		}
		r.RingDoorbell(&x.Ring)
		r.Ended(x, first, all[:n])
		all = all[n:]
	}
	r.NoFrames()
}

// copyChannels runs long copies in each channel in turn. Meanwhile short copies in other channels, and frames, must not
// wait for them.
func copyChannels(r *kit.Rig) {
	const n = 1 << 19
	_, w := CopySetup(r, 8, 4)
	a, b := Wide(r, 5, nicspec.EndpointArm, n+64), Wide(r, 6, nicspec.EndpointHost, n+4*kit.Guard)
	for channel := range nicspec.CopyChannels {
		long, send := r.OpenTx(channel, 2), r.OpenTx(channel|32, 4)
		short := make([]*kit.TxRing, 0, nicspec.CopyChannels-1)
		for other := 1; other < nicspec.CopyChannels; other++ {
			short = append(short, r.OpenTx(channel^other|16, 4))
		}
		src := r.Piece(a, 0, 64, kit.Pattern(n, uint64(channel)))
		dst := r.Destination(b, 0, 64, n)
		wait := r.Enqueue(long, kit.CopyEntry(nicspec.OpcodeCopy, src, dst))
		r.RingDoorbell(&long.Ring)
		r.Run(500)
		for i := range 4 {
			data := kit.Pattern(1000, uint64(i))
			d := r.Destination(w[1], i, 64, len(data))
			r.Transmit(short[i%len(short)], kit.CopyEntry(nicspec.OpcodeCopy, r.Piece(w[0], 3*i, 64, data), d))
			r.CheckDestination(d, data)
			r.Transmit(send, r.Sound(w[1], uint64(i)))
			r.Nothing(&long.Ring)
		}
		for range 4 {
			r.Run(n / nicspec.LineBytes)
		}
		r.Ended(long, 0, wait)
		r.CheckDestination(dst, kit.Pattern(n, uint64(channel)))
		for _, x := range append(short, long, send) {
			r.Disable(nicspec.TableTxq, x.Number)
		}
	}
}

// copyDisabled disables a queue while its copy is in flight: the copy ends as usual.
func copyDisabled(r *kit.Rig) {
	_, w := CopySetup(r, 8, 4)
	for i := range 6 {
		x := r.OpenTx(2, 3)
		data := kit.Pattern(40_000, uint64(i))
		d := r.Destination(w[1], i, 64, len(data))
		started := false
		r.Watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			started = started || c.Kind == boundary.TLPOut && h.Kind == tlp.MWr
		}
		all := r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, r.Piece(w[0], 7, 64, data), d))
		r.RingDoorbell(&x.Ring)
		r.Until("the copy has begun", func() bool { return started })
		r.Watch = nil
		r.Run(i * 50)
		r.Disable(nicspec.TableTxq, 2)
		r.Ended(x, 0, all)
		r.CheckDestination(d, data)
	}
}
