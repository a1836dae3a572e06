package copies

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// LineChecks check that copies keep cache lines whole.
var LineChecks = []kit.Check{
	{Name: "copy/whole lines", Rules: "D2 P3", Stalls: kit.Stalled, Run: wholeLines},
	{Name: "copy/whole lines, MPS and MRRS", Rules: "D2 P3 G8", Stalls: kit.Calm, Run: wholeLinesLimits},
	{Name: "copy/whole lines of several queues", Rules: "D2 D7", Stalls: kit.Stalled, Run: wholeLinesTogether},
}

// span is the range of bus addresses that a request covers.
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

// torn returns the first aligned line inside a range that no single request covers completely, and whether there is
// such a line.
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

// copiedInLines posts copies, waits for their ends, and checks those whose source and destination agree modulo 64:
// their requests must not split lines. It returns the number of copies checked.
func copiedInLines(r *kit.Rig, x *kit.TxRing, entries ...nicspec.WqeFields) (lined int) {
	r.T.Helper()
	for len(entries) > 0 {
		n := min(len(entries), 16)
		var q requested
		r.Quiet()
		r.Watch = q.see
		Copied(r, x, entries[:n])
		r.Watch = nil
		for i := range entries[:n] {
			s := kit.Segments(&entries[i])
			lined += keptWhole(r, &q, s[0], s[1])
		}
		entries = entries[n:]
	}
	return lined
}

// keptWhole checks that no request of a copy whose source and destination agree modulo 64 splits a line. It returns 1
// for such a copy, else 0.
func keptWhole(r *kit.Rig, q *requested, s, d nicspec.SegFields) int {
	r.T.Helper()
	from, to, n := r.BusOf(s), r.BusOf(d), int(s.Len)
	if from%nicspec.LineBytes != to%nicspec.LineBytes {
		return 0
	}
	line, bad := torn(q.reads, from, n)
	require.False(r.T, bad, "copy of %d B from %#x to %#x: no read asks for the whole line at %#x", n, from, to, line)
	line, bad = torn(q.writes, to, n)
	require.False(r.T, bad, "copy of %d B from %#x to %#x: no write covers the whole line at %#x", n, from, to, line)
	return 1
}

// lineLengths are lengths around one line, a few lines, and a page.
var lineLengths = []int{1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 256, 449, 1000, 4095, 4096, 4161, 9000}

// lineCopies returns copies of all lineLengths, for several offsets of the source within a line. Most have the same
// offset at the destination; some cross page boundaries.
func lineCopies(r *kit.Rig, w []*kit.Window, rng *rand.Rand) (all []nicspec.WqeFields) {
	r.T.Helper()
	for i, n := range lineLengths {
		for k, skew := range []int{0, 1, 4, 31, 60, 63} {
			to := skew
			if k == i%6 {
				to = rng.IntN(64)
			}
			src := r.Piece(w[k&1], skew, 64, kit.Pattern(n, rng.Uint64()))
			all = append(all, kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[k>>1&1], to, 64, n)))
		}
	}
	for i := range 24 { // a page ends inside the source, the destination, or both, at different places
		before, n := rng.IntN(64)+64*rng.IntN(9), 64+rng.IntN(1200)
		src := r.Piece(w[i&1], 4096-before, 4096, kit.Pattern(n, rng.Uint64()))
		to := 4096 - before%64 - 64*rng.IntN(9) - kit.Guard
		all = append(all, kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[1-i&1], to, 4096, n)))
	}
	return all
}

func wholeLines(r *kit.Rig) {
	x, w := CopySetup(r, 3, 5)
	rng := rand.New(rand.NewPCG(51, 9))
	require.Greater(r.T, copiedInLines(r, x, lineCopies(r, w, rng)...), 80, "copies whose addresses agree modulo 64")
}

func wholeLinesLimits(r *kit.Rig) {
	x, w := CopySetup(r, 2, 5)
	rng := rand.New(rand.NewPCG(52, 9))
	for mrrs := range uint32(6) {
		r.Quiet()
		d := nicspec.DevctlReg(nicspec.ResetDevctl)
		d.SetMrrs(mrrs)
		d.SetMps((mrrs + 1) % 3)
		r.Write(nicspec.RegDevctl, uint32(d))
		r.Synced()
		all := lineCopies(r, w, rng)
		copiedInLines(r, x, all[int(mrrs)%2*len(all)/2:]...)
	}
}

// wholeLinesTogether copies in one queue of each channel at once, with and without equal alignment of source and
// destination.
func wholeLinesTogether(r *kit.Rig) {
	_, w := CopySetup(r, 3, 2)
	rng := rand.New(rand.NewPCG(53, 9))
	var rings []*kit.TxRing
	for q := range nicspec.CopyChannels {
		rings = append(rings, r.OpenTx(8+q, 4))
	}
	for range 4 {
		var q requested
		var all [nicspec.CopyChannels][]kit.Posted
		r.Quiet()
		r.Watch = q.see
		for i, x := range rings {
			for range 12 {
				n, skew := 1+rng.IntN(900), rng.IntN(64)
				src := r.Piece(w[i&1], skew, 64, kit.Pattern(n, rng.Uint64()))
				all[i] = append(all[i],
					r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[i>>1&1], skew, 64, n)))...)
			}
		}
		for _, x := range rings {
			r.RingDoorbell(&x.Ring)
		}
		for i, x := range rings {
			r.Ended(x, x.PI-12, all[i])
		}
		r.Watch = nil
		for i := range all {
			for k := range all[i] {
				s := all[i][k].Segments()
				r.CheckDestination(s[1], r.Load(r.BusOf(s[0]), int(s[0].Len)))
				keptWhole(r, &q, s[0], s[1])
			}
		}
	}
}
