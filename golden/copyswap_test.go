package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// rivals records copies of two queues from different sources to the same destination.
func rivals(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	for q := range 2 {
		m.OpenTx(q, 4)
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeCopy, Nseg: 2, FComplete: true}
		(&nicspec.SegFields{Key: goodKey, Len: 3000, Addr: 0x1000 + uint64(q)<<13}).Encode(w.Slots[:])
		(&nicspec.SegFields{Key: 7, Len: 3000}).Encode(w.Slots[16:])
		m.push(q, &w)
	}
	m.RingTx(0)
	m.RingTx(1)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

func TestRivalCopies(t *testing.T) {
	cfg, clean := rivals(t)
	p := newTape(t, clean)
	p.swap(p.find(0, copyWrite(512)), p.find(1, copyWrite(512))) // either may write first
	got := judge(t, cfg, p.s)
	require.True(t, got.Passed(), "%v", got)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"bytes of neither source", func(p *tape) { p.get(0, copyWrite(512)).TLP.Data[7] ^= 1 }, "txq", "D2", ""},
		{"a place is not written", func(p *tape) {
			p.drop(p.find(1, copyWrite(512)))
			p.drop(p.find(0, copyWrite(512)))
		}, "txq", "D6", "completion entry"},
		{"written before anything came", func(p *tape) { p.move(p.find(0, copyWrite(512)), p.find(0, pieceRead)+1) },
			"txq", "D2", "write"},
	})
}
