package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// fencedMessages records six entries of queue 0, each of different lines: an invalidation, a copy that invalidates,
// a fenced copy, an invalidation, a fenced copy that invalidates, an invalidation.
func fencedMessages(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Timing.CopyChunks = 3
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.Write(linesBus, pattern(keySpan, 2))
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	m.key(8, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Length: keySpan, BusBase: linesBus})
	m.OpenTx(0, 4)
	for i, c := range []struct {
		op    nicspec.Opcode
		fence bool
	}{{nicspec.OpcodeInvalidate, false}, {nicspec.OpcodeCopyInvalidate, false}, {nicspec.OpcodeCopy, true},
		{nicspec.OpcodeInvalidate, false},
		{nicspec.OpcodeCopyInvalidate, true}, {nicspec.OpcodeInvalidate, false}} {
		w := nicspec.WqeFields{Opcode: c.op, Nseg: 2, FComplete: true, WqeId: uint32(i), FFence: c.fence}
		if c.op == nicspec.OpcodeInvalidate {
			w.Nseg = 1
		}
		(&nicspec.SegFields{Key: 8, Len: 1024, Addr: uint64(i) << 12}).Encode(w.Slots[:])
		(&nicspec.SegFields{Key: 7, Len: 1024, Addr: uint64(i) << 12}).Encode(w.Slots[16:])
		m.push(0, &w)
	}
	m.RingTx(0)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

// A message of an entry before a fence must leave before the fenced copy writes, as a write must. A fence does not
// delay the entries behind it.
func TestFencedMessages(t *testing.T) {
	cfg, clean := fencedMessages(t)
	sent := func(entry uint64) pick {
		return out(tlp.MsgD, func(_ *tlp.Header, x *boundary.Crossing) bool {
			return nicspec.InvalidateMsg(x.TLP.Data).Addr() == linesBus+entry<<12
		})
	}
	wrote := func(entry uint64) pick {
		return out(tlp.MWr, func(h *tlp.Header, _ *boundary.Crossing) bool {
			return h.Address >= copyBus+entry<<12 && h.Address < copyBus+(entry+1)<<12
		})
	}
	// last returns the index of an entry's last write.
	last := func(p *tape, entry uint64) int { return last(p, wrote(entry)) }

	// an entry behind a fenced copy may even write before it
	early := newTape(t, clean)
	early.move(early.find(0, sent(3)), early.find(0, wrote(2)))
	got := judge(t, cfg, early.s)
	require.True(t, got.Passed(), "%v", got)

	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"an invalidation's message after the first write of a fenced copy", func(p *tape) {
			p.move(p.find(0, sent(0)), last(p, 2))
		}, "txq 0", "", ""},
		{"a copy's message after the first write of a fenced copy", func(p *tape) {
			p.move(p.find(0, sent(1)), p.find(0, wrote(2))+1)
		}, "txq 0", "", ""},
		{"the first write of a fenced copy before the message before it", func(p *tape) {
			p.move(p.find(0, wrote(2)), p.find(0, sent(1)))
		}, "txq 0", "D10", "message"},
		{"the first write of a fenced copy before the message of an invalidation", func(p *tape) {
			p.move(p.find(0, wrote(4)), p.find(0, sent(3)))
		}, "txq 0", "D10", "message"},
		{"the first write of a fenced copy before the last write of one before it", func(p *tape) {
			p.move(p.find(0, wrote(2)), last(p, 1))
		}, "txq 0", "D10", "write"},
		{"the first write of a fenced copy before that of one farther ahead", func(p *tape) {
			p.move(p.find(0, wrote(4)), last(p, 2))
		}, "txq 0", "D10", "write"},
		{"a fenced copy's message before its last write", func(p *tape) {
			p.move(p.find(0, sent(4)), last(p, 4))
		}, "txq 0", "D5", "message"},
	})
}
