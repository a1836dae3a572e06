package copies

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

const copyHeld = "copy/what is sent waits for a copy that cannot leave"

// BackpressureChecks block the device's output while copies are ready to leave.
var BackpressureChecks = func() []kit.Check {
	kit.Around[copyHeld] = func(e *board.Endpoint) { e.Gate = true }
	kit.Credits[copyHeld] = 12
	return []kit.Check{{Name: copyHeld, Rules: "D6 D8", Stalls: kit.Calm, Run: sendBehindHeldCopy}}
}()

// sendBehindHeldCopy fills the device's output path before a copy's only write is ready: completely, or except for a
// few TLPs. The write then waits inside the device or before its output. In either case a frame of inline bytes behind
// it in the queue must not leave.
func sendBehindHeldCopy(r *kit.Rig) {
	const late = 8000
	x, w := CopySetup(r, 2, 3)
	y := r.OpenRx(1, 5, nil)
	r.ReceiveAll(1)
	takes := outputCapacity(r, y)
	held := 0
	for spare := 1; spare >= -3; spare-- {
		n := uint64(100 + spare)
		src, dst := r.Piece(w[0], 0, 64, kit.Pattern(64, n)), r.Destination(w[1], 0, 64, 64)
		fill := filling(takes - spare)
		r.Post(y, len(fill)) // post now, so that the device fetches no descriptors during the test
		r.Quiet()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{From: r.BusOf(src), To: r.BusOf(src) + 64, Delay: r.Bed.Cycles(late)}))
		send := kit.SendEntry(kit.Pattern(nicspec.InlineMax, n))
		send.FPad = true
		first := x.PI
		posts := r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, src, dst), send)
		asked, wrote, out := false, false, 0
		r.Watch = func(c boundary.Crossing) {
			if c.Kind == boundary.TLPOut {
				h := tlp.Parse(&c.TLP.Hdr)
				asked = asked || h.Kind == tlp.MRd && h.Address == r.BusOf(src)
				wrote = wrote || h.Kind == tlp.MWr && h.Address == r.BusOf(dst)
				out++
			}
		}
		r.RingDoorbell(&x.Ring)
		r.Until("the copy's source is asked for", func() bool { return asked })
		r.Run(4 * kit.LinkCycles)
		r.Bed.Gate.Close()
		out = 0
		r.Play(fill...)
		r.Played()
		r.Run(1000)
		require.Equal(r.T, min(takes, takes-spare), out, "TLPs that left before the copy's source came")
		require.False(r.T, wrote, "the copy's source came too soon for this check")
		r.Run(late + 2000)
		require.Equal(r.T, spare > 0, wrote, "the copy's write left, with room for %d TLPs more", spare)
		require.Equal(r.T, wrote, r.LeftFrom(x.Number), "the frame behind the copy left, with room for %d TLPs more",
			spare)
		if !wrote {
			held++
		}
		r.Watch = nil
		r.Bed.Gate.Open()
		r.Ended(x, first, posts)
		r.Quiet()
		r.CheckDestination(dst, kit.Pattern(64, n))
	}
	require.GreaterOrEqual(r.T, held, 3, "copies that could not leave")
	r.NoFrames()
}

// outputCapacity counts the TLPs that cross the device's output before the closed gate behind it holds them up.
func outputCapacity(r *kit.Rig, y *kit.RxRing) int {
	r.T.Helper()
	fill := filling(2 * kit.Credits[copyHeld])
	r.Post(y, len(fill))
	r.Quiet()
	r.Bed.Gate.Close()
	out := 0
	r.Watch = func(c boundary.Crossing) {
		if c.Kind == boundary.TLPOut {
			out++
		}
	}
	r.Play(fill...)
	r.Played()
	r.Run(1000)
	r.Watch = nil
	r.Bed.Gate.Open()
	r.Quiet()
	require.Less(r.T, out, 2*len(fill), "TLPs that the output path holds")
	return out
}

// filling returns frames for whose reception the device makes n writes, completion entries included.
func filling(n int) [][]byte {
	var all [][]byte
	if n%2 > 0 {
		all, n = append(all, kit.Blob(400, uint64(n))), n-3 // its payload takes two writes
	}
	for i := range n / 2 {
		all = append(all, kit.Blob(nicspec.FrameMin, uint64(i)))
	}
	return all
}
