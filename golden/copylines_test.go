package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// fences records four copies of queue 0: of lines with equal alignment of source and destination, of bytes with
// different alignment, a fenced one that invalidates, and one behind that.
func fences(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Timing.CopyChunks = 3
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.Write(keyBus, pattern(keySpan, 1))
	m.Write(linesBus, pattern(keySpan, 2))
	m.key(5, goodKeyEntry)
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	m.key(8, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Length: keySpan, BusBase: linesBus})
	m.OpenTx(0, 4)
	for i, c := range []struct {
		op       nicspec.Opcode
		src, dst uint64
		n        uint32
	}{{nicspec.OpcodeCopy, 0x1010, 0x10, 1000}, {nicspec.OpcodeCopy, 0x2001, 0x1000, 500},
		{nicspec.OpcodeCopyInvalidate, 64, 0x2000, 256},
		{nicspec.OpcodeCopy, 0x3000, 0x3000, 300}} {
		w := nicspec.WqeFields{Opcode: c.op, Nseg: 2, FComplete: true, WqeId: uint32(i), FFence: i == 2}
		key := uint32(goodKey)
		if c.op == nicspec.OpcodeCopyInvalidate {
			key = 8
		}
		(&nicspec.SegFields{Key: key, Len: c.n, Addr: c.src}).Encode(w.Slots[:])
		(&nicspec.SegFields{Key: 7, Len: c.n, Addr: c.dst}).Encode(w.Slots[16:])
		m.push(0, &w)
	}
	m.RingTx(0)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

// cut splits a picked write or read in two, n bytes behind its DW-aligned address.
func (p *tape) cut(is pick, n int) {
	i := p.find(0, is)
	x := clone(p.s[i])
	p.header(&p.s[i], func(h *tlp.Header) { h.Length, h.LastBE = uint16(n/tlp.DWBytes), 0xf })
	p.header(&x, func(h *tlp.Header) {
		h.Address, h.Length, h.FirstBE = h.Address+uint64(n), h.Length-uint16(n/tlp.DWBytes), 0xf
	})
	if len(x.TLP.Data) > 0 {
		p.s[i].TLP.Data, x.TLP.Data = p.s[i].TLP.Data[:n], x.TLP.Data[n:]
	} else {
		p.header(&x, func(h *tlp.Header) { h.Tag = 251 })
	}
	p.insert(i+1, x)
}

func TestWholeLinesAndFences(t *testing.T) {
	cfg, clean := fences(t)
	got := judge(t, cfg, clean)
	require.True(t, got.Passed(), "%v", got)
	first := func(base, n uint64) pick {
		return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool {
			return h.Address >= copyBus+base && h.Address < copyBus+base+n
		})
	}
	last := func(p *tape, is pick) int {
		n := 0
		for i := range p.s {
			if is(&p.s[i]) {
				n = i
			}
		}
		return n
	}
	lines := newTape(t, clean)
	lines.cut(first(0x10, 48), 48) // the copy does not cover this line as a whole
	got = judge(t, cfg, lines.s)
	require.True(t, got.Passed(), "%v", got)
	odd := newTape(t, clean)
	odd.cut(first(0x1000, 500), 32) // source and destination have different alignment
	got = judge(t, cfg, odd.s)
	require.True(t, got.Passed(), "%v", got)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"a line in two writes", func(p *tape) { p.cut(first(0x10, 48), 80) }, "txq 0", "D2", "write"},
		{"a line in two reads", func(p *tape) { p.cut(readOf(keyBus+0x10), 80) }, "txq 0", "D2", "read"},
		{"a fenced write overtakes one before it", func(p *tape) {
			p.move(p.find(0, first(0x2000, 1)), last(p, first(0x1000, 500)))
		}, "txq 0", "D10", "write"},
	})
}
