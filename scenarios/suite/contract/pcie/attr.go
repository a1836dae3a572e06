package pcie

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/copies"
	"nictwin/scenarios/suite/contract/kit"
)

// RuntimeChecks change DEVCTL while requests are in flight.
var RuntimeChecks = func() []kit.Check {
	all := []kit.Check{
		{Name: "run time/limits change under traffic", Rules: "P10 P3 G8", Stalls: kit.Stalled,
			Run: func(r *kit.Rig) { limitsChange(r, 0) }},
	}
	rcb := kit.Check{Name: "run time/completions at 64 B though DEVCTL.rcb says 128", Rules: "P12 P5",
		Stalls: kit.Stalled, Run: func(r *kit.Rig) { bothWays(r, true) }}
	kit.Around[rcb.Name] = func(s *board.Endpoint) {
		s.Limits, s.Split = tlp.Limits{MPS: 256, MRRS: 4096, RCB: 64},
			tlp.CplRandom
	}
	return append(all, rcb)
}()

// AttrChecks check the attributes of requests [P11].
var AttrChecks = []kit.Check{
	{Name: "attributes/of every kind of request", Rules: "P2 P11", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { attributes(r, bothWaysOnce) }},
	{Name: "attributes/change under traffic", Rules: "P10 P11 G8", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { limitsChange(r, 3) }},
}

// AttrCopyChecks check the attributes of copies.
var AttrCopyChecks = []kit.Check{{Name: "attributes/of copies", Rules: "P11 D2", Stalls: kit.Stalled,
	Run: func(r *kit.Rig) { attributes(r, copySome) }}}

// carries reports whether a request of the device transfers data of frames or copies, and so is neither a ring access
// nor a message.
func carries(r *kit.Rig, h *tlp.Header) bool {
	in := func(g *kit.Ring) bool { return g.Contains(h.Address) || g.CQContains(h.Address) }
	for _, x := range r.Rx {
		if in(&x.Ring) || h.Address == x.MsixAddr {
			return false
		}
	}
	for _, x := range r.Tx {
		if in(&x.Ring) || h.Address == x.MsixAddr {
			return false
		}
	}
	return true
}

// attributes runs some traffic under every setting: requests for data must have the configured attributes, all others
// none.
func attributes(r *kit.Rig, traffic func(*kit.Rig)) {
	for attr := range uint32(4) {
		r.Quiet()
		r.SetDevctl(attr%3, attr+1, attr)
		r.Synced()
		seen := map[[2]bool]int{}
		r.Watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			if c.Kind != boundary.TLPOut || !h.Kind.IsMemory() {
				return
			}
			data := carries(r, &h)
			want := tlp.Attr(0)
			if data {
				want = tlp.Attr(attr)
			}
			require.Equal(r.T, want, h.Attr, "attributes of %v, data of a frame or copy: %v", h, data)
			seen[[2]bool{h.Kind == tlp.MRd, data}]++
		}
		traffic(r)
		r.Quiet()
		r.Watch = nil
		require.Len(r.T, seen, 4, "kinds of requests seen: reads and writes, of data and of rings")
	}
}

// bothWaysOnce receives and sends a few frames.
func bothWaysOnce(r *kit.Rig) {
	r.ReceiveAll(1)
	x := r.OpenRx(1, 8, func(f *nicspec.RxqEntryFields) {
		if f.SplitMode = nicspec.SplitModeHeaders; r.Sizes.Has(nicspec.PartMsix) {
			f.MsixAddr, f.ModCount = r.Alloc(nicspec.EndpointHost, 4, 4), 4
		}
	})
	y, ws := r.TxSetup(2, 6)
	w := ws[0]
	r.Post(x, 12)
	first := r.Ordinal()
	for i := range 12 {
		r.Play(kit.FrameOf(60 + i*97))
	}
	r.Transmit(y, r.Sound(w, 1), r.Sound(w, 2), kit.SendEntry(nil, r.Piece(w, 3, 4096, kit.Pattern(5000, 1))))
	for i := range 12 {
		r.Delivered(x, first+i, nicspec.RuleNone)
	}
	r.Disable(nicspec.TableRxq, 1)
	r.Disable(nicspec.TableTxq, 2)
}

func copySome(r *kit.Rig) {
	x, w := copies.CopySetup(r, 2, 6)
	copies.Copied(r, x, []nicspec.WqeFields{copies.SoundCopy(r, w[0], 1), copies.SoundCopy(r, w[1], 2),
		copies.SoundCopy(r, w[0], 3)})
	r.Disable(nicspec.TableTxq, 2)
}

// devctlWatch compares the device's requests with the latest value of DEVCTL.
type devctlWatch struct {
	*kit.Rig
	now     nicspec.DevctlReg
	at      int64 // cycle in which DEVCTL was last written
	since   int   // requests that left more than 64 cycles after the write
	stale   int   // largest value of `since` at a request that did not obey the new value
	checked int
}

func (d *devctlWatch) see(c boundary.Crossing) {
	h := tlp.Parse(&c.TLP.Hdr)
	if c.Kind == boundary.TLPIn && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+nicspec.RegDevctl {
		d.now, d.at, d.since = nicspec.DevctlReg(uint32(c.TLP.Data[0])|uint32(c.TLP.Data[1])<<8), c.Last, 0
		return
	}
	if c.Kind != boundary.TLPOut || !h.Kind.IsMemory() || c.First <= d.at+nicspec.VisibleCycles {
		return
	}
	d.since++
	most := 128 << d.now.Mps()
	if h.Kind == tlp.MRd {
		most = 128 << d.now.Mrrs()
	}
	want := tlp.Attr(d.now>>10&1 | d.now>>9&1<<1)
	if !carries(d.Rig, &h) {
		want = 0
	}
	if int(h.Length)*4 > most || h.Attr != want {
		d.stale = max(d.stale, d.since)
	} else if d.since > 256 {
		d.checked++
	}
}

// limitsChange writes DEVCTL again and again while frames are received and sent.
func limitsChange(r *kit.Rig, attrs uint32) {
	rng := rand.New(rand.NewPCG(91, 9))
	x, w := r.TxSetup(2, 6)
	y := r.OpenRx(1, 9, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
	r.ReceiveAll(1)
	d := &devctlWatch{Rig: r, now: nicspec.ResetDevctl}
	r.Watch = d.see
	for range 10 {
		r.Post(y, 30)
		first := r.Ordinal()
		for range 30 {
			r.Play(kit.FrameOf(60 + rng.IntN(3000)))
		}
		var all []nicspec.WqeFields
		for range 40 {
			all = append(all, r.Cut(w, kit.Pattern(60+rng.IntN(4000), rng.Uint64()), 0, 2, rng))
		}
		index := x.PI
		posts := r.Enqueue(x, all...)
		r.RingDoorbell(&x.Ring)
		for range rng.IntN(3) {
			r.Run(rng.IntN(800))
			r.SetDevctl(rng.Uint32()%3, rng.Uint32()%6, rng.Uint32()&attrs)
		}
		r.Ended(x, index, posts)
		for i := range 30 {
			r.Delivered(y, first+i, nicspec.RuleNone)
		}
	}
	r.Quiet()
	r.Watch = nil
	require.LessOrEqual(r.T, d.stale, 256, "requests under an earlier setting, more than 64 cycles after a new "+
		"one was written")
	require.NotZero(r.T, d.checked)
	r.NoFrames()
}
