package golden

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// calm records a run in which the contract leaves no choice: two ports, three receive queues with different splits,
// two transmit queues, descriptors for every frame, some frames dropped by rule or checksum, some failing work
// entries, and reads of the counters at the end.
func calm(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Ports = 2
	r := newRig(t, o)
	m, rng := r.mem, rand.New(rand.NewPCG(7, 7))
	m.Write32(nicspec.RegDevctl, 1|2<<4)
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0+2)
	m.Write32(nicspec.RegRxCtrl, 1)
	m.readable(pattern(keySpan, 1))
	m.rule(2, dmacRule(0, nicspec.ActionDrop, 0))
	for q := range 3 {
		m.rule(4+q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
		m.OpenRx(q, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitMode(q), 66 })
		m.post(q, 128)
	}
	for q := range 2 {
		m.OpenTx(q, 5)
	}
	at := 0
	for i := range 24 {
		q := i % 2
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Port: uint8(i / 2 % 2), InlineLen: 14, Nseg: 2,
			WqeId:     0x1000 + uint32(i),
			FComplete: i%4 < 2}
		copy(w.Slots[:], []byte{2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, uint8(i), 8, 0})
		for s := range 2 {
			n := 60 + rng.IntN(600)
			(&nicspec.SegFields{Key: goodKey, Len: uint32(n), Addr: 0x1000 + uint64(at)}).Encode(w.Slots[16+16*s:])
			at += n + 5
		}
		if i == 9 {
			w.Nseg = 3
		}
		m.push(q, &w)
		if i%4 == 3 {
			m.RingTx(0)
			m.RingTx(1)
			r.step(simcore.Microsecond)
		}
	}
	for range 60 {
		r.peers[rng.IntN(2)].send(testFrame(rng))
		r.step(simcore.Ps(rng.IntN(300)) * simcore.Nanosecond)
	}
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

// tape is a recording that tests edit.
type tape struct {
	t testing.TB
	s []boundary.Crossing
}

func newTape(t testing.TB, from []boundary.Crossing) *tape {
	p := &tape{t: t}
	for _, x := range from {
		p.s = append(p.s, clone(x))
	}
	return p
}

// pick reports whether a crossing is one of those that a test is about to edit or to move.
type pick func(x *boundary.Crossing) bool

// find returns the index of the n-th picked crossing.
func (p *tape) find(n int, is pick) int {
	for i := range p.s {
		if is(&p.s[i]) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	require.Fail(p.t, "the tape has no such crossing")
	return -1
}

func (p *tape) get(n int, is pick) *boundary.Crossing { return &p.s[p.find(n, is)] }

func (p *tape) drop(i int) { p.s = append(p.s[:i:i], p.s[i+1:]...) }

// insert inserts a crossing before index i, and gives it the time of the crossing that is there.
func (p *tape) insert(i int, x boundary.Crossing) {
	x.First, x.Last = p.s[i].Last, p.s[i].Last
	p.s = append(p.s[:i:i], append([]boundary.Crossing{x}, p.s[i:]...)...)
}

// move moves a crossing to another index, and gives it the time of the crossing that was at that index.
func (p *tape) move(from, to int) {
	x := p.s[from]
	p.drop(from)
	p.insert(to, x)
}

// swap exchanges the contents of two crossings; their times stay.
func (p *tape) swap(i, k int) {
	a, b := &p.s[i], &p.s[k]
	a.TLP, b.TLP = b.TLP, a.TLP
	a.Frame, b.Frame = b.Frame, a.Frame
}

// header changes a TLP's header.
func (p *tape) header(x *boundary.Crossing, f func(h *tlp.Header)) {
	h := tlp.Parse(&x.TLP.Hdr)
	f(&h)
	require.NoError(p.t, h.Encode(&x.TLP.Hdr))
}

func out(k tlp.Kind, is func(h *tlp.Header, x *boundary.Crossing) bool) pick {
	return func(x *boundary.Crossing) bool {
		if x.Kind != boundary.TLPOut {
			return false
		}
		h := tlp.Parse(&x.TLP.Hdr)
		return h.Kind == k && is(&h, x)
	}
}

func frameOut(queue int) pick {
	return func(x *boundary.Crossing) bool {
		return x.Kind == boundary.FrameOut && (queue < 0 || x.Frame.Queue == queue)
	}
}

func frameIn(x *boundary.Crossing) bool { return x.Kind == boundary.FrameIn }

// rxCqe and the functions below pick crossings by the addresses that the test driver uses.
func rxCqe(q int) pick {
	return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool {
		return h.Address>>22 == 0x0100_0000_3000_0000>>22+uint64(q)
	})
}

func txCqe(q int) pick {
	return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool {
		return h.Address>>22 == 0x6000_0000>>22+uint64(q)
	})
}

func payWrite(q int) pick {
	return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool {
		return h.Address>>28 == 0x0100_0001_0000_0000>>28+uint64(q)
	})
}

func hdrWrite(q int) pick {
	return out(tlp.MWr,
		func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address>>24 == 0x8000_0000>>24+uint64(q) })
}

func descRead(q int) pick {
	return out(tlp.MRd,
		func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address>>20 == 0x1000_0000>>20+uint64(q) })
}

func wqeRead(q int) pick {
	return out(tlp.MRd,
		func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address>>22 == 0x2000_0000>>22+uint64(q) })
}

var pieceRead = out(tlp.MRd, func(h *tlp.Header, _ *boundary.Crossing) bool { return h.Address>>16 == keyBus>>16 })

// answer returns the index of the answer to the first read of a register.
func (p *tape) answer(off uint32) int {
	at := p.find(0, func(x *boundary.Crossing) bool {
		return x.Kind == boundary.TLPIn && tlp.Parse(&x.TLP.Hdr).Kind == tlp.MRd &&
			tlp.Parse(&x.TLP.Hdr).Address == nicspec.BarBase+uint64(off)
	})
	tag := tlp.Parse(&p.s[at].TLP.Hdr).Tag
	for i := at; i < len(p.s); i++ {
		if p.s[i].Kind != boundary.TLPOut {
			continue
		}
		if h := tlp.Parse(&p.s[i].TLP.Hdr); h.Kind == tlp.CplD && h.Tag == tag {
			return i
		}
	}
	require.Fail(p.t, "the register was not read")
	return -1
}
