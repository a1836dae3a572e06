package pcie

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// TagChecks use up tags, and make reads time out.
var TagChecks = []kit.Check{
	{Name: "tags/none is lost when reads time out beside others", Rules: "P2 P6 C3", Stalls: kit.Stalled,
		Run: tagsComeBack},
}

// outstanding tracks the device's reads in flight, and the largest number of them at once.
type outstanding struct {
	left map[uint8]int // bytes outstanding, by tag
	most int
}

func (o *outstanding) see(c boundary.Crossing) {
	switch h := tlp.Parse(&c.TLP.Hdr); {
	case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd:
		_, n := h.Span()
		o.left[h.Tag] = n
		o.most = max(o.most, len(o.left))
	case c.Kind == boundary.TLPIn && h.Kind == tlp.CplD && h.RequesterID == nicspec.RequesterNic:
		if n := int(h.ByteCount) - len(c.TLP.Data); n <= 0 {
			delete(o.left, h.Tag)
		}
	}
}

// tagsComeBack makes about a hundred reads time out together. Their tags become free in the same cycles in which
// completions of other reads arrive back to back. Afterwards as many reads must be outstanding at once as before.
func tagsComeBack(r *kit.Rig) {
	const limit = 6 * kit.Timeout // far longer than an answer takes
	r.Write(nicspec.RegCplTimeout, limit)
	r.Write(nicspec.RegDevctl, 0) // reads of 128 B
	good, w := r.TxSetup(3, 7)
	bad := r.OpenTx(4, 7)
	long := func(n int) []nicspec.WqeFields {
		return slices.Repeat([]nicspec.WqeFields{kit.SendEntry(nil, r.Piece(w[0], 0, 128, kit.Pattern(8192, 1)))}, n)
	}
	most := func() int {
		o := &outstanding{left: map[uint8]int{}}
		r.Bed.Faults.Clear()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultNone, From: w[0].Bus, To: w[0].Bus + 1<<20,
				Delay: r.Bed.Cycles(kit.Timeout)}))
		r.Watch = o.see
		sendAll(r, good, long(10))
		r.Watch = nil
		r.Bed.Faults.Clear()
		return o.most
	}
	before := most()
	for range 4 {
		since := r.Bed.NIC.Cycles()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultSilent, From: w[1].Bus, To: w[1].Bus + 1<<20}))
		e := kit.SendEntry(nil, r.Piece(w[1], 0, 128, kit.Pattern(8192, 1)))
		first := bad.PI
		all := r.Enqueue(bad, e, e)
		for i := range all {
			all[i].Status, all[i].Frame = nicspec.StatusCplTimeout, nil
		}
		r.RingDoorbell(&bad.Ring)
		for r.Bed.NIC.Cycles() < since+2*limit+kit.Timeout { // until all tags may be used again [P6]
			sendAll(r, good, long(40))
		}
		r.Ended(bad, first, all)
	}
	require.Equal(r.T, before, most(), "reads outstanding at once, after tags came back")
}

// sendAll posts entries and waits for their ends.
func sendAll(r *kit.Rig, x *kit.TxRing, entries []nicspec.WqeFields) {
	r.T.Helper()
	first := x.PI
	all := r.Enqueue(x, entries...)
	r.RingDoorbell(&x.Ring)
	r.Ended(x, first, all)
}
