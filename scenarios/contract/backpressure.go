package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var backpressureChecks = func() []check {
	c := check{"mixed/completions come in while nothing can leave", "B7 C3", calm, completionsWhileHeld}
	around[c.name] = func(e *board.Endpoint) { e.Gate = true }
	return []check{c}
}()

// completionsWhileHeld has the endpoint take nothing until the way there is full of writes and no TLP can leave. The answers
// to reads from before come then, and must be accepted: an endpoint may wait for that before it takes anything.
func completionsWhileHeld(r *rig) {
	const late, entries = 55_000, 8
	r.write(nicspec.RegDevctl, 0) // writes of 128 B: many of them
	x, w := r.txSetup(2, 3)
	y := r.openRx(1, 8, nil)
	r.receiveAll(1)
	r.post(y, y.Size())
	r.quiet()
	var all []nicspec.WqeFields
	for i := range entries {
		all = append(all, r.sound(w[i%2], uint64(i)))
	}
	for _, w := range w {
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: w.bus, To: w.bus + uint64(w.length), Delay: r.b.Cycles(late)}))
	}
	posts := r.enqueue(x, all...)
	asked := 0
	r.watch = func(c boundary.Crossing) {
		if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && r.carries(&h) {
			_, n := h.Span()
			asked += n
		}
	}
	r.tell(&x.ring)
	r.until("the pieces are asked for", func() bool { return asked == 300*entries })
	r.run(2 * r.way)
	r.b.Gate.Close()
	out, came, early := int64(0), 0, 0
	r.watch = func(c boundary.Crossing) {
		switch {
		case c.Kind == boundary.TLPOut:
			out = c.Last
		case c.First > out+500:
			came += len(c.TLP.Data)
		default:
			early++
		}
	}
	for i := range 180 {
		r.play(blob(nicspec.FrameMax, uint64(i)))
	}
	r.run(late + 4000)
	require.Zero(r.t, early, "completions that came before the stream stood still: this check is too weak")
	require.GreaterOrEqual(r.t, came, 300*entries, "bytes of completions that were accepted while no TLP could leave")
	r.watch = nil
	r.b.Gate.Open()
	r.ended(x, 0, posts)
	r.quiet()
	r.noFrames()
}
