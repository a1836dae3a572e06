package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

const copyHeld = "copy/what is sent waits for a copy that cannot leave"

var copyHeldChecks = func() []check {
	around[copyHeld] = func(e *board.Endpoint) { e.Gate = true }
	credits[copyHeld] = 12
	return []check{{copyHeld, "D6 D8", calm, sendBehindHeldCopy}}
}()

// sendBehindHeldCopy has the way out of the device full when a copy's only write is ready, to the last place or a few more:
// wherever it stands then, inside the device or before it, a frame of inline bytes behind it in the queue must not leave.
func sendBehindHeldCopy(r *rig) {
	const late = 8000
	x, w := r.copySetup(2, 3)
	y := r.openRx(1, 5, nil)
	r.receiveAll(1)
	takes := r.wayOut(y)
	held := 0
	for spare := 1; spare >= -3; spare-- {
		n := uint64(100 + spare)
		src, dst := r.piece(w[0], 0, 64, pattern(64, n)), r.hole(w[1], 0, 64, 64)
		fill := filling(takes - spare)
		r.post(y, len(fill)) // none is left to be read ahead meanwhile
		r.quiet()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: r.busOf(src), To: r.busOf(src) + 64, Delay: r.b.Cycles(late)}))
		send := sendEntry(pattern(nicspec.InlineMax, n))
		send.FPad = true
		first := x.PI
		posts := r.enqueue(x, copyEntry(nicspec.OpcodeCopy, src, dst), send)
		asked, wrote, out := false, false, 0
		r.watch = func(c boundary.Crossing) {
			if c.Kind == boundary.TLPOut {
				h := tlp.Parse(&c.TLP.Hdr)
				asked = asked || h.Kind == tlp.MRd && h.Address == r.busOf(src)
				wrote = wrote || h.Kind == tlp.MWr && h.Address == r.busOf(dst)
				out++
			}
		}
		r.tell(&x.ring)
		r.until("the copy's source is asked for", func() bool { return asked })
		r.run(4 * linkCycles)
		r.b.Gate.Close()
		out = 0
		r.play(fill...)
		r.played()
		r.run(1000)
		require.Equal(r.t, min(takes, takes-spare), out, "TLPs that left before the copy's source came")
		require.False(r.t, wrote, "the copy's source came too soon: this check is too weak")
		r.run(late + 2000)
		require.Equal(r.t, spare > 0, wrote, "the copy's write left, with room for %d TLPs more", spare)
		require.Equal(r.t, wrote, r.leftFrom(x.Number), "the frame behind the copy left, with room for %d TLPs more", spare)
		if !wrote {
			held++
		}
		r.watch = nil
		r.b.Gate.Open()
		r.ended(x, first, posts)
		r.quiet()
		r.filled(dst, pattern(64, n))
	}
	require.GreaterOrEqual(r.t, held, 3, "copies that could not leave")
	r.noFrames()
}

// wayOut counts the TLPs that leave the device while nothing takes them.
func (r *rig) wayOut(y *rxRing) int {
	r.t.Helper()
	fill := filling(2 * credits[copyHeld])
	r.post(y, len(fill))
	r.quiet()
	r.b.Gate.Close()
	out := 0
	r.watch = func(c boundary.Crossing) {
		if c.Kind == boundary.TLPOut {
			out++
		}
	}
	r.play(fill...)
	r.played()
	r.run(1000)
	r.watch = nil
	r.b.Gate.Open()
	r.quiet()
	require.Less(r.t, out, 2*len(fill), "TLPs that the way out takes")
	return out
}

// filling is frames whose reception needs n writes, those of completion entries among them.
func filling(n int) [][]byte {
	var all [][]byte
	if n%2 > 0 {
		all, n = append(all, blob(400, uint64(n))), n-3 // in two writes
	}
	for i := range n / 2 {
		all = append(all, blob(nicspec.FrameMin, uint64(i)))
	}
	return all
}
