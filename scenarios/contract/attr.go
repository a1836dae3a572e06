package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var runtimeChecks = func() []check {
	all := []check{
		{"run time/limits change under traffic", "P10 P3 G8", stalled, func(r *rig) { limitsChange(r, 0) }},
	}
	rcb := check{"run time/completions at 64 B though DEVCTL.rcb says 128", "P12 P5", stalled, func(r *rig) { bothWays(r, true) }}
	around[rcb.name] = func(s *board.Endpoint) { s.Limits, s.Split = tlp.Limits{MPS: 256, MRRS: 4096, RCB: 64}, tlp.CplRandom }
	return append(all, rcb)
}()

var attrChecks = []check{
	{"attributes/of every kind of request", "P2 P11", stalled, func(r *rig) { attributes(r, bothWaysOnce) }},
	{"attributes/change under traffic", "P10 P11 G8", stalled, func(r *rig) { limitsChange(r, 3) }},
}

var attrCopyChecks = []check{{"attributes/of copies", "P11 D2", stalled, func(r *rig) { attributes(r, copySome) }}}

// setDevctl writes DEVCTL: codes, of which the driver would refuse those that stand for no limit.
func (r *rig) setDevctl(mps, mrrs, attr uint32) {
	r.t.Helper()
	var d nicspec.DevctlReg
	d.SetMps(mps)
	d.SetMrrs(mrrs)
	d.SetRelaxedOrdering(attr&2 != 0)
	d.SetNoSnoop(attr&1 != 0)
	r.write(nicspec.RegDevctl, uint32(d))
}

// carries tells whether a request of the device carries data of frames or copies: it is for no ring, and no message.
func (r *rig) carries(h *tlp.Header) bool {
	in := func(g *ring) bool { return g.Contains(h.Address) || g.CQContains(h.Address) }
	for _, x := range r.rx {
		if in(&x.ring) || h.Address == x.MsixAddr {
			return false
		}
	}
	for _, x := range r.tx {
		if in(&x.ring) || h.Address == x.MsixAddr {
			return false
		}
	}
	return true
}

// attributes has some traffic under every setting: requests for data have the attributes that are set, all others none.
func attributes(r *rig, traffic func(*rig)) {
	for attr := range uint32(4) {
		r.quiet()
		r.setDevctl(attr%3, attr+1, attr)
		r.synced()
		seen := map[[2]bool]int{}
		r.watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			if c.Kind != boundary.TLPOut || !h.Kind.IsMemory() {
				return
			}
			data := r.carries(&h)
			want := tlp.Attr(0)
			if data {
				want = tlp.Attr(attr)
			}
			require.Equal(r.t, want, h.Attr, "attributes of %v, data of a frame or copy: %v", h, data)
			seen[[2]bool{h.Kind == tlp.MRd, data}]++
		}
		traffic(r)
		r.quiet()
		r.watch = nil
		require.Len(r.t, seen, 4, "reads and writes of both kinds were there")
	}
}

// bothWaysOnce receives and sends a few frames.
func bothWaysOnce(r *rig) {
	r.receiveAll(1)
	x := r.openRx(1, 8, func(f *nicspec.RxqEntryFields) {
		if f.SplitMode = nicspec.SplitModeHeaders; r.sizes.Has(nicspec.PartMsix) {
			f.MsixAddr, f.ModCount = r.alloc(nicspec.EndpointHost, 4, 4), 4
		}
	})
	y, ws := r.txSetup(2, 6)
	w := ws[0]
	r.post(x, 12)
	first := r.ordinal()
	for i := range 12 {
		r.play(frameOf(60 + i*97))
	}
	r.transmit(y, r.sound(w, 1), r.sound(w, 2), sendEntry(nil, r.piece(w, 3, 4096, pattern(5000, 1))))
	for i := range 12 {
		r.delivered(x, first+i, nicspec.RuleNone)
	}
	r.disable(nicspec.TableRxq, 1)
	r.disable(nicspec.TableTxq, 2)
}

func copySome(r *rig) {
	x, w := r.copySetup(2, 6)
	r.copied(x, []nicspec.WqeFields{r.soundCopy(w[0], 1), r.soundCopy(w[1], 2), r.soundCopy(w[0], 3)})
	r.disable(nicspec.TableTxq, 2)
}

// devctlWatch holds requests against DEVCTL as it was last written.
type devctlWatch struct {
	*rig
	now     nicspec.DevctlReg
	at      int64 // when it was written
	since   int   // requests that left more than 64 cycles later
	stale   int   // the last of them that did not follow it
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
	if !d.carries(&h) {
		want = 0
	}
	if int(h.Length)*4 > most || h.Attr != want {
		d.stale = max(d.stale, d.since)
	} else if d.since > 256 {
		d.checked++
	}
}

// limitsChange writes DEVCTL again and again while frames come and go.
func limitsChange(r *rig, attrs uint32) {
	rng := rand.New(rand.NewPCG(91, 9))
	x, w := r.txSetup(2, 6)
	y := r.openRx(1, 9, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
	r.receiveAll(1)
	d := &devctlWatch{rig: r, now: nicspec.ResetDevctl}
	r.watch = d.see
	for range 10 {
		r.post(y, 30)
		first := r.ordinal()
		for range 30 {
			r.play(frameOf(60 + rng.IntN(3000)))
		}
		var all []nicspec.WqeFields
		for range 40 {
			all = append(all, r.cut(w, pattern(60+rng.IntN(4000), rng.Uint64()), 0, 2, rng))
		}
		index := x.PI
		posts := r.enqueue(x, all...)
		r.tell(&x.ring)
		for range rng.IntN(3) {
			r.run(rng.IntN(800))
			r.setDevctl(rng.Uint32()%3, rng.Uint32()%6, rng.Uint32()&attrs)
		}
		r.ended(x, index, posts)
		for i := range 30 {
			r.delivered(y, first+i, nicspec.RuleNone)
		}
	}
	r.quiet()
	r.watch = nil
	require.LessOrEqual(r.t, d.stale, 256, "requests that followed a former setting, more than 64 cycles after a new one was written")
	require.NotZero(r.t, d.checked)
	r.noFrames()
}
