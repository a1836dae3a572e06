package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var copyLineChecks = []check{
	{"copy/whole lines", "D2 P3", stalled, wholeLines},
	{"copy/whole lines, MPS and MRRS", "D2 P3 G8", calm, wholeLinesLimits},
	{"copy/whole lines of several queues", "D2 D7", stalled, wholeLinesTogether},
}

// span is the bytes that a request names.
type span struct {
	at uint64
	n  int
}

func (s span) holds(at uint64, n int) bool { return at >= s.at && at+uint64(n) <= s.at+uint64(s.n) }

// requested collects the spans of the device's reads and writes.
type requested struct{ reads, writes []span }

func (q *requested) see(c boundary.Crossing) {
	h := tlp.Parse(&c.TLP.Hdr)
	if c.Kind != boundary.TLPOut || !h.Kind.IsMemory() {
		return
	}
	off, n := h.Span()
	s := span{h.Address + uint64(off), n}
	if h.Kind == tlp.MRd {
		q.reads = append(q.reads, s)
	} else {
		q.writes = append(q.writes, s)
	}
}

// torn is the first aligned line of a range that no request of a list names whole, and whether there is one.
func torn(list []span, bus uint64, n int) (line uint64, found bool) {
	const size = nicspec.LineBytes
	for line = (bus + size - 1) &^ (size - 1); line+size <= bus+uint64(n); line += size {
		whole := false
		for _, s := range list {
			whole = whole || s.holds(line, size)
		}
		if !whole {
			return line, true
		}
	}
	return 0, false
}

// copiedInLines posts copies and demands that they are done, and that those whose addresses agree modulo 64 kept their
// lines whole. It returns how many did.
func (r *rig) copiedInLines(x *txRing, entries ...nicspec.WqeFields) (lined int) {
	r.t.Helper()
	for len(entries) > 0 {
		n := min(len(entries), 16)
		var q requested
		r.quiet()
		r.watch = q.see
		r.copied(x, entries[:n])
		r.watch = nil
		for i := range entries[:n] {
			s := segments(&entries[i])
			lined += r.keptWhole(&q, s[0], s[1])
		}
		entries = entries[n:]
	}
	return lined
}

// keptWhole demands that a copy's lines were kept whole, if its addresses agree modulo 64; it returns 1 then, else 0.
func (r *rig) keptWhole(q *requested, s, d nicspec.SegFields) int {
	r.t.Helper()
	from, to, n := r.busOf(s), r.busOf(d), int(s.Len)
	if from%nicspec.LineBytes != to%nicspec.LineBytes {
		return 0
	}
	line, bad := torn(q.reads, from, n)
	require.False(r.t, bad, "copy of %d B from %#x to %#x: no read asks for the whole line at %#x", n, from, to, line)
	line, bad = torn(q.writes, to, n)
	require.False(r.t, bad, "copy of %d B from %#x to %#x: no write has the whole line at %#x", n, from, to, line)
	return 1
}

// lineLengths are about one line, a few, and a page.
var lineLengths = []int{1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 256, 449, 1000, 4095, 4096, 4161, 9000}

// lineCopies are copies of all lengths from all offsets within a line, most to the same offset, about page boundaries, too.
func (r *rig) lineCopies(w []*window, rng *rand.Rand) (all []nicspec.WqeFields) {
	r.t.Helper()
	for i, n := range lineLengths {
		for k, skew := range []int{0, 1, 4, 31, 60, 63} {
			to := skew
			if k == i%6 {
				to = rng.IntN(64)
			}
			src := r.piece(w[k&1], skew, 64, pattern(n, rng.Uint64()))
			all = append(all, copyEntry(nicspec.OpcodeCopy, src, r.hole(w[k>>1&1], to, 64, n)))
		}
	}
	for i := range 24 { // a page ends inside the source, the destination, or both, at different places
		before, n := rng.IntN(64)+64*rng.IntN(9), 64+rng.IntN(1200)
		src := r.piece(w[i&1], 4096-before, 4096, pattern(n, rng.Uint64()))
		to := 4096 - before%64 - 64*rng.IntN(9) - guard
		all = append(all, copyEntry(nicspec.OpcodeCopy, src, r.hole(w[1-i&1], to, 4096, n)))
	}
	return all
}

func wholeLines(r *rig) {
	x, w := r.copySetup(3, 5)
	rng := rand.New(rand.NewPCG(51, 9))
	require.Greater(r.t, r.copiedInLines(x, r.lineCopies(w, rng)...), 80, "copies whose addresses agree modulo 64")
}

func wholeLinesLimits(r *rig) {
	x, w := r.copySetup(2, 5)
	rng := rand.New(rand.NewPCG(52, 9))
	for mrrs := range uint32(6) {
		r.quiet()
		d := nicspec.DevctlReg(nicspec.ResetDevctl)
		d.SetMrrs(mrrs)
		d.SetMps((mrrs + 1) % 3)
		r.write(nicspec.RegDevctl, uint32(d))
		r.synced()
		all := r.lineCopies(w, rng)
		r.copiedInLines(x, all[int(mrrs)%2*len(all)/2:]...)
	}
}

// wholeLinesTogether has a queue of each channel copy at once, aligned alike and not.
func wholeLinesTogether(r *rig) {
	_, w := r.copySetup(3, 2)
	rng := rand.New(rand.NewPCG(53, 9))
	var rings []*txRing
	for q := range nicspec.CopyChannels {
		rings = append(rings, r.openTx(8+q, 4))
	}
	for range 4 {
		var q requested
		var all [nicspec.CopyChannels][]posted
		r.quiet()
		r.watch = q.see
		for i, x := range rings {
			for range 12 {
				n, skew := 1+rng.IntN(900), rng.IntN(64)
				src := r.piece(w[i&1], skew, 64, pattern(n, rng.Uint64()))
				all[i] = append(all[i], r.enqueue(x, copyEntry(nicspec.OpcodeCopy, src, r.hole(w[i>>1&1], skew, 64, n)))...)
			}
		}
		for _, x := range rings {
			r.tell(&x.ring)
		}
		for i, x := range rings {
			r.ended(x, x.PI-12, all[i])
		}
		r.watch = nil
		for i := range all {
			for k := range all[i] {
				s := all[i][k].segments()
				r.filled(s[1], r.load(r.busOf(s[0]), int(s[0].Len)))
				r.keptWhole(&q, s[0], s[1])
			}
		}
	}
}
