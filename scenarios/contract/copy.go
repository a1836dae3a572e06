package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var copyChecks = []check{
	{"copy/lengths and addresses", "D1 D2 D6 P3 P4 C2", stalled, copyLayouts},
	{"copy/MPS and MRRS", "D2 P3 G8", calm, copyLimits},
	{"copy/the longest", "D1 D2 D6", calm, longestCopy},
	{"copy/ranges that overlap", "D2", calm, overlappingCopies},
	{"copy/rate", "D9", calm, copyRate},
	{"copy/order with what is sent", "D8 T10", stalled, copiesAndSends},
	{"copy/channels", "D7 T1", stalled, copyChannels},
	{"copy/disabled while a copy is under way", "T11 D6", stalled, copyDisabled},
	{"copy/statuses", "D1 T3 T10", stalled, copyStatuses},
	{"copy/order of the checks", "D1", calm, copyStatusOrder},
	{"copy/reads that fail", "D3 P6", stalled, copyFaults},
	{"copy/several reads that fail", "D3 P6", stalled, copyManyFaults},
	{"copy/reads after one has failed", "D3", calm, copyStops},
	{"copy/sources of nothing", "D3 P6", calm, copyOfNothing},
}

// isCopy tells the opcodes of the copy engine.
func isCopy(op nicspec.Opcode) bool {
	return op >= nicspec.OpcodeCopy && op <= nicspec.OpcodeCopyInvalidate
}

// copyStatus is [D1].
func copyStatus(w *nicspec.WqeFields, keys keyTable, sizes *nicspec.Build) nicspec.Status {
	want := 2
	if w.Opcode == nicspec.OpcodeInvalidate {
		want = 1
	}
	fence := w.FFence && (w.Opcode == nicspec.OpcodeInvalidate || !sizes.Has(nicspec.PartFence))
	flags := w.FIpCsum || w.FUdpCsum || w.FUdpZero || w.FIcrc || w.FCrc32c || w.FPad || fence || w.FAppend || w.FRsvd != 0
	if int(w.Nseg) != want || w.InlineLen != 0 || w.Port != 0 || w.Blocks != 0 || flags {
		return nicspec.StatusBadFormat
	}
	segs := segments(w)
	for _, s := range segs {
		if s.Key>>16&0xff != 0 {
			return nicspec.StatusBadFormat
		}
	}
	for _, s := range segs {
		if s.Len == 0 || s.Len > nicspec.CopyMax || s.Len != segs[0].Len {
			return nicspec.StatusBadLength
		}
	}
	for i, s := range segs {
		k := keys[int(s.Key&0xffff)]
		read := i == 0 && w.Opcode != nicspec.OpcodeInvalidate
		write := i == 1 || w.Opcode != nicspec.OpcodeCopy
		if st := pieceStatus(&s, &k, sizes, read, write); st != nicspec.StatusOk {
			return st
		}
	}
	if w.Opcode != nicspec.OpcodeCopy {
		k := keys[int(segs[0].Key&0xffff)]
		bus := k.BusBase + segs[0].Addr - k.VaBase
		if bus>>nicspec.EndpointShift != nicspec.EndpointArm || bus%nicspec.LineBytes != 0 || segs[0].Len%nicspec.LineBytes != 0 {
			return nicspec.StatusBadRange
		}
	}
	return nicspec.StatusOk
}

// copyEntry is a work entry that copies from one range to another.
func copyEntry(op nicspec.Opcode, pieces ...nicspec.SegFields) nicspec.WqeFields {
	w := sendEntry(nil, pieces...)
	w.Opcode = op
	return w
}

// copySetup opens a transmit queue and a window to each memory, to be read and written.
func (r *rig) copySetup(q, log int) (*txRing, []*window) {
	r.t.Helper()
	x, w := r.txSetup(q, log)
	for _, w := range w {
		r.writable(w)
	}
	return x, w
}

func (r *rig) writable(w *window) {
	r.t.Helper()
	k := r.keys[int(w.id&0xffff)]
	k.RightWrite = true
	r.key(int(w.id&0xffff), k)
}

// busOf is where a piece is.
func (r *rig) busOf(s nicspec.SegFields) uint64 {
	k := r.keys[int(s.Key&0xffff)]
	return k.BusBase + s.Addr - k.VaBase
}

const guard = 64 // bytes about a destination that nobody may write

// hole is a destination of n bytes between guards.
func (r *rig) hole(w *window, skew, align, n int) nicspec.SegFields {
	r.t.Helper()
	s := r.piece(w, skew, align, pattern(n+2*guard, uint64(n)))
	s.Addr += guard
	s.Len = uint32(n)
	return s
}

// filled demands that a destination has these bytes, and that its guards are untouched.
func (r *rig) filled(s nicspec.SegFields, want []byte) {
	r.t.Helper()
	n := len(want)
	all := pattern(n+2*guard, uint64(n))
	copy(all[guard:], want)
	got := r.load(r.busOf(s)-guard, n+2*guard)
	for i := range all {
		if all[i] != got[i] {
			require.FailNow(r.t, "copied bytes", "byte %d of %d at %#x is %#02x, want %#02x", i-guard, n, r.busOf(s), got[i], all[i])
		}
	}
}

// copied demands the ends of entries that were posted, that a destination is filled for each, and what is counted.
func (r *rig) copied(x *txRing, entries []nicspec.WqeFields) {
	r.t.Helper()
	r.quiet()
	before, total := r.counters(), 0
	var sources [][]byte
	for i := range entries {
		s := segments(&entries[i])
		sources = append(sources, r.load(r.busOf(s[0]), int(s[0].Len)))
		total += int(s[0].Len)
	}
	r.transmit(x, entries...)
	r.quiet()
	for i := range entries {
		r.filled(segments(&entries[i])[1], sources[i])
	}
	r.moved("copies", before, steps{dev(nicspec.CntTxCqe): free}.with(dev(nicspec.CntTxWqe), len(entries)).with(dev(nicspec.CntCopyBytes), total))
}

func copyLayouts(r *rig) {
	x, w := r.copySetup(3, 5)
	rng := rand.New(rand.NewPCG(41, 9))
	var all []nicspec.WqeFields
	for i, n := range []int{1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 60, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257, 511, 513, 1000, 4095, 4096, 4097, 9000, 20000} {
		for k := range 4 {
			src := r.piece(w[k&1], rng.IntN(128), 128, pattern(n, rng.Uint64()))
			e := copyEntry(nicspec.OpcodeCopy, src, r.hole(w[k>>1], rng.IntN(128), 128, n))
			e.FComplete = (i+k)%3 > 0
			all = append(all, e)
		}
	}
	for before := range 20 { // about 4 KB boundaries
		n := 1 + rng.IntN(300)
		src := r.piece(w[before&1], 4096-before*7, 4096, pattern(n, rng.Uint64()))
		all = append(all, copyEntry(nicspec.OpcodeCopy, src, r.hole(w[before>>1&1], 4096-guard-rng.IntN(160), 4096, n)))
	}
	r.copied(x, all)
}

func copyLimits(r *rig) {
	x, w := r.copySetup(2, 4)
	rng := rand.New(rand.NewPCG(42, 9))
	for mrrs := range uint32(6) {
		r.quiet()
		r.setDevctl(mrrs%3, mrrs, 0)
		r.synced()
		longest := [2]int{}
		r.watch = func(c boundary.Crossing) {
			if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && h.Kind.IsMemory() {
				longest[h.Kind-tlp.MRd] = max(longest[h.Kind-tlp.MRd], int(h.Length)*4)
			}
		}
		var all []nicspec.WqeFields
		for i, n := range []int{700, 5000, 12345} {
			src := r.piece(w[i&1], rng.IntN(64), 64, pattern(n, rng.Uint64()))
			all = append(all, copyEntry(nicspec.OpcodeCopy, src, r.hole(w[1-i&1], rng.IntN(64), 64, n)))
		}
		r.copied(x, all)
		r.watch = nil
		require.LessOrEqual(r.t, longest[0], 128<<mrrs, "reads")
		require.LessOrEqual(r.t, longest[1], 128<<(mrrs%3), "writes")
	}
}

// wide is a window that holds n bytes.
func (r *rig) wide(index, endpoint, n int) *window {
	r.t.Helper()
	w := r.window(index, endpoint, n)
	r.writable(w)
	return w
}

func longestCopy(r *rig) {
	x, _ := r.copySetup(1, 2)
	a, b := r.wide(5, nicspec.EndpointArm, nicspec.CopyMax+64), r.wide(6, nicspec.EndpointHost, nicspec.CopyMax+4*guard)
	src := pattern(nicspec.CopyMax, 1)
	s := r.piece(a, 0, 64, src)
	d := r.hole(b, 0, 64, nicspec.CopyMax)
	all := r.enqueue(x, copyEntry(nicspec.OpcodeCopy, s, d))
	r.tell(&x.ring)
	r.run(nicspec.CopyMax / nicspec.LineBytes)
	r.ended(x, 0, all)
	r.filled(d, src)
	require.EqualValues(r.t, nicspec.CopyMax, r.read2(nicspec.RegCounter(dev(nicspec.CntCopyBytes))))
	s.Len, d.Len = nicspec.CopyMax+1, nicspec.CopyMax+1
	r.transmit(x, copyEntry(nicspec.OpcodeCopy, s, d))
}

// overlappingCopies has ranges that overlap: which byte is read before which is written is free, but each is written once.
func overlappingCopies(r *rig) {
	x, w := r.copySetup(1, 3)
	for _, shift := range []int{0, 1, 63, 64, 1000, -1, -64, -999} {
		const n = 5000
		s := r.piece(w[0], 2000, 4096, pattern(n, uint64(shift)))
		d := s
		d.Addr += uint64(shift)
		written := map[uint64]int{}
		r.watch = r.writes(written)
		r.transmit(x, copyEntry(nicspec.OpcodeCopy, s, d))
		r.quiet()
		r.watch = nil
		for i := range uint64(n) {
			require.Equal(r.t, 1, written[r.busOf(d)+i], "shift %d: how often byte %d is written", shift, i)
			delete(written, r.busOf(d)+i)
		}
		require.Equal(r.t, nicspec.CqeBytes, len(written), "bytes written beside the destination: a completion entry")
		if shift == 0 {
			require.Equal(r.t, pattern(n, 0), r.load(r.busOf(d), n))
		}
	}
}

// writes counts the writes of each byte.
func (r *rig) writes(count map[uint64]int) func(boundary.Crossing) {
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

// copyRate has copies of 4 KB and one long one: 64 B a cycle and more.
func copyRate(r *rig) {
	r.setDevctl(2, 5, 0)
	x, _ := r.copySetup(1, 7)
	a, b := r.wide(5, nicspec.EndpointArm, 1<<20), r.wide(6, nicspec.EndpointHost, 1<<20+4*guard)
	for _, n := range []int{4096, 1 << 18} {
		var all []nicspec.WqeFields
		for range 1 << 18 / n {
			all = append(all, copyEntry(nicspec.OpcodeCopy, r.piece(a, 0, 64, pattern(n, 1)), r.hole(b, 0, 64, n)))
		}
		var first, last int64
		r.watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			switch ours := h.Address>>nicspec.EndpointShift == nicspec.EndpointHost && h.Length > nicspec.CqeBytes/4; {
			case c.Kind != boundary.TLPOut || h.Kind != tlp.MWr || !ours:
			case first == 0:
				first, last = c.Last, c.Last
			default:
				last = c.Last
			}
		}
		r.transmit(x, all...)
		r.watch = nil
		require.Less(r.t, last-first, int64(1<<18/nicspec.LineBytes*11/10), "cycles for 256 KB in copies of %d B", n)
	}
}

// copiesAndSends has what is sent depend on copies before it in its queue, and copies that overwrite what was to be sent.
func copiesAndSends(r *rig) {
	x, w := r.copySetup(6, 5)
	buf := r.piece(w[0], 5, 64, pattern(3000, 1))
	var all []posted
	for i := range 24 {
		n := 100 + i*113
		data := pattern(n, uint64(100+i))
		from, to := r.piece(w[i%2], i, 64, data), buf
		to.Len = uint32(n)
		c := copyEntry(nicspec.OpcodeCopy, from, to)
		c.FComplete = i%2 > 0
		c.WqeId = uint32(i)
		s := sendEntry(nil, to)
		s.WqeId = uint32(i) | 1<<16
		all = append(all, posted{one(c), nil, nicspec.StatusOk}, posted{one(s), data, nicspec.StatusOk})
	}
	for len(all) > 0 {
		n, first := min(len(all), x.Size()), x.PI
		for i := range all[:n] {
			r.storeEntry(x, x.PI, &all[i].longEntry)
			x.PI++
		}
		r.tell(&x.ring)
		r.ended(x, first, all[:n])
		all = all[n:]
	}
	r.noFrames()
}

// copyChannels has long copies in one channel after the other, beside which short ones of other channels and frames go on.
func copyChannels(r *rig) {
	const n = 1 << 19
	_, w := r.copySetup(8, 4)
	a, b := r.wide(5, nicspec.EndpointArm, n+64), r.wide(6, nicspec.EndpointHost, n+4*guard)
	for channel := range nicspec.CopyChannels {
		long, send := r.openTx(channel, 2), r.openTx(channel|32, 4)
		short := make([]*txRing, 0, nicspec.CopyChannels-1)
		for other := 1; other < nicspec.CopyChannels; other++ {
			short = append(short, r.openTx(channel^other|16, 4))
		}
		src := r.piece(a, 0, 64, pattern(n, uint64(channel)))
		dst := r.hole(b, 0, 64, n)
		wait := r.enqueue(long, copyEntry(nicspec.OpcodeCopy, src, dst))
		r.tell(&long.ring)
		r.run(500)
		for i := range 4 {
			data := pattern(1000, uint64(i))
			d := r.hole(w[1], i, 64, len(data))
			r.transmit(short[i%len(short)], copyEntry(nicspec.OpcodeCopy, r.piece(w[0], 3*i, 64, data), d))
			r.filled(d, data)
			r.transmit(send, r.sound(w[1], uint64(i)))
			r.nothing(&long.ring)
		}
		for range 4 {
			r.run(n / nicspec.LineBytes)
		}
		r.ended(long, 0, wait)
		r.filled(dst, pattern(n, uint64(channel)))
		for _, x := range append(short, long, send) {
			r.disable(nicspec.TableTxq, x.Number)
		}
	}
}

// copyDisabled disables a queue while its copy is under way: it ends as usual.
func copyDisabled(r *rig) {
	_, w := r.copySetup(8, 4)
	for i := range 6 {
		x := r.openTx(2, 3)
		data := pattern(40_000, uint64(i))
		d := r.hole(w[1], i, 64, len(data))
		started := false
		r.watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			started = started || c.Kind == boundary.TLPOut && h.Kind == tlp.MWr
		}
		all := r.enqueue(x, copyEntry(nicspec.OpcodeCopy, r.piece(w[0], 7, 64, data), d))
		r.tell(&x.ring)
		r.until("the copy has begun", func() bool { return started })
		r.watch = nil
		r.run(i * 50)
		r.disable(nicspec.TableTxq, 2)
		r.ended(x, 0, all)
		r.filled(d, data)
	}
}
