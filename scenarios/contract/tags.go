package contract

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var tagChecks = []check{
	{"tags/none is lost when reads time out beside others", "P2 P6 C3", stalled, tagsComeBack},
}

// outstanding counts the reads that are outstanding, and the most at once.
type outstanding struct {
	left map[uint8]int // bytes, by tag
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

// tagsComeBack has a hundred reads time out at once, whose tags have rested while completions of other reads come in one
// after another: tags come back in the same cycles. After that as many reads are outstanding at once as before.
func tagsComeBack(r *rig) {
	const limit = 6 * timeout // far more than an answer takes
	r.write(nicspec.RegCplTimeout, limit)
	r.write(nicspec.RegDevctl, 0) // reads of 128 B
	good, w := r.txSetup(3, 7)
	bad := r.openTx(4, 7)
	long := func(n int) []nicspec.WqeFields {
		return slices.Repeat([]nicspec.WqeFields{sendEntry(nil, r.piece(w[0], 0, 128, pattern(8192, 1)))}, n)
	}
	most := func() int {
		o := &outstanding{left: map[uint8]int{}}
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultNone, From: w[0].bus, To: w[0].bus + 1<<20, Delay: r.b.Cycles(timeout)}))
		r.watch = o.see
		r.sendAll(good, long(10))
		r.watch = nil
		r.b.Faults.Clear()
		return o.most
	}
	before := most()
	for range 4 {
		since := r.b.NIC.Cycles()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultSilent, From: w[1].bus, To: w[1].bus + 1<<20}))
		e := sendEntry(nil, r.piece(w[1], 0, 128, pattern(8192, 1)))
		first := bad.PI
		all := r.enqueue(bad, e, e)
		for i := range all {
			all[i].status, all[i].frame = nicspec.StatusCplTimeout, nil
		}
		r.tell(&bad.ring)
		for r.b.NIC.Cycles() < since+2*limit+timeout { // by then their tags have rested
			r.sendAll(good, long(40))
		}
		r.ended(bad, first, all)
	}
	require.Equal(r.t, before, most(), "reads outstanding at once, after tags came back")
}

// sendAll sends and waits for it.
func (r *rig) sendAll(x *txRing, entries []nicspec.WqeFields) {
	r.t.Helper()
	first := x.PI
	all := r.enqueue(x, entries...)
	r.tell(&x.ring)
	r.ended(x, first, all)
}
