package pcie

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// BackpressureChecks block the TLP streams.
var BackpressureChecks = func() []kit.Check {
	c := kit.Check{Name: "mixed/completions come in while nothing can leave", Rules: "B7 C3", Stalls: kit.Calm,
		Run: completionsWhileHeld}
	kit.Around[c.Name] = func(e *board.Endpoint) { e.Gate = true }
	return []kit.Check{c}
}()

// completionsWhileHeld blocks the output until the path to the endpoint is full of writes and no TLP can leave. The
// answers to earlier reads, which arrive then, must still be accepted, since an endpoint may wait for that before it
// accepts a TLP.
func completionsWhileHeld(r *kit.Rig) {
	const late, entries = 55_000, 8
	r.Write(nicspec.RegDevctl, 0) // writes of 128 B make more TLPs
	x, w := r.TxSetup(2, 3)
	y := r.OpenRx(1, 8, nil)
	r.ReceiveAll(1)
	r.Post(y, y.Size())
	r.Quiet()
	var all []nicspec.WqeFields
	for i := range entries {
		all = append(all, r.Sound(w[i%2], uint64(i)))
	}
	for _, w := range w {
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{From: w.Bus, To: w.Bus + uint64(w.Length), Delay: r.Bed.Cycles(late)}))
	}
	posts := r.Enqueue(x, all...)
	asked := 0
	r.Watch = func(c boundary.Crossing) {
		if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && carries(r, &h) {
			_, n := h.Span()
			asked += n
		}
	}
	r.RingDoorbell(&x.Ring)
	r.Until("the pieces are asked for", func() bool { return asked == 300*entries })
	r.Run(2 * r.OneWay)
	r.Bed.Gate.Close()
	out, came, early := int64(0), 0, 0
	r.Watch = func(c boundary.Crossing) {
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
		r.Play(kit.Blob(nicspec.FrameMax, uint64(i)))
	}
	r.Run(late + 4000)
	require.Zero(r.T, early, "completions before the stream was blocked, too early for this check")
	require.GreaterOrEqual(r.T, came, 300*entries, "bytes of completions that were accepted while no TLP could leave")
	r.Watch = nil
	r.Bed.Gate.Open()
	r.Ended(x, 0, posts)
	r.Quiet()
	r.NoFrames()
}
