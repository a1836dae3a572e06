package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// doubles records copies of the same lines to the same destination by queue 0 and by queue 1. A fenced copy to
// another destination follows in queue 0.
func doubles(t testing.TB, complete bool) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Timing.CopyChunks = 3
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	post := func(q int, src, dst uint64, fence bool) {
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeCopy, Nseg: 2, FComplete: complete, FFence: fence}
		(&nicspec.SegFields{Key: goodKey, Len: 1024, Addr: src}).Encode(w.Slots[:])
		(&nicspec.SegFields{Key: 7, Len: 1024, Addr: dst}).Encode(w.Slots[16:])
		m.push(q, &w)
	}
	m.OpenTx(0, 4)
	m.OpenTx(1, 4)
	post(0, 0x1000, 0, false)
	post(0, 0x3000, 0x2000, true)
	post(1, 0x1000, 0, false)
	m.RingTx(0)
	m.RingTx(1)
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

// Either copy may have made a write to their common destination. Nevertheless each must write every byte once and
// in whole lines, and queue 0's copy must not write after the fenced copy behind it.
func TestCopiesToOneDestination(t *testing.T) {
	cfg, clean := doubles(t, true)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"one copy does not write", func(p *tape) { p.drop(p.find(1, copyWrite(512))) }, "txq", "D2", "write"},
		{"a third write", func(p *tape) { i := p.find(1, copyWrite(512)); p.insert(i+1, clone(p.s[i])) }, "txq", "D2",
			"write"},
		{"a line in two writes", func(p *tape) { p.cut(copyWrite(0), 32) }, "txq", "D2", "write"},
		{"bytes of no source", func(p *tape) { p.get(0, copyWrite(0)).TLP.Data[3] ^= 1 }, "txq", "D2", ""},
		{"both write behind the fence", func(p *tape) {
			p.move(p.find(0, copyWrite(0x2000)), p.find(0, copyWrite(512)))
			p.move(p.find(1, copyWrite(512)), p.find(0, txCqe(0)))
		}, "txq", "D10", "write"},
	})
}

// Without completion entries, the end of the run shows that a copy has not written its bytes.
func TestCopiesToOneDestinationWithoutCompletion(t *testing.T) {
	cfg, clean := doubles(t, false)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"one copy does not write", func(p *tape) { p.drop(p.find(1, copyWrite(512))) }, "txq", "D2", "write"},
	})
}

// If the two copies have different sources, the bytes of a write show which copy made it.
func TestCopiesFromDifferentSources(t *testing.T) {
	cfg, clean := rivals(t)
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"one writes what is the other's, too", func(p *tape) {
			p.get(1, copyWrite(512)).TLP.Data = append([]byte(nil), p.get(0, copyWrite(512)).TLP.Data...)
		}, "txq", "D2", "write"},
		{"one of two writes is missing", func(p *tape) { p.drop(p.find(0, copyWrite(512))) }, "txq", "D6",
			"completion entry"},
		{"one of two comes twice", func(p *tape) { i := p.find(1, copyWrite(512)); p.insert(i+1, clone(p.s[i])) },
			"txq", "D2", "write"},
	})
}

// If there are more shared writes than the referee matches, it reports an exceeded limit (Limits), and no mismatch.
func TestManySharedCopyWrites(t *testing.T) {
	o := smallRig()
	o.spec.Timing.CopyChunks = 3
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegDevctl, 0)
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(make([]byte, keySpan))
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	for q := range 2 {
		m.OpenTx(q, 4)
		for range 8 {
			w := nicspec.WqeFields{Opcode: nicspec.OpcodeCopy, Nseg: 2, FComplete: true}
			(&nicspec.SegFields{Key: goodKey, Len: keySpan / 2, Addr: 0x1000}).Encode(w.Slots[:])
			(&nicspec.SegFields{Key: 7, Len: keySpan / 2}).Encode(w.Slots[16:])
			m.push(q, &w)
		}
		m.RingTx(q)
	}
	m.readCounters()
	got := judge(t, DefaultConfig(o.spec.Build), r.tape)
	require.True(t, got.Passed(), "%v", got)
	require.NotEmpty(t, got.Limits)
	require.Equal(t, verdict.LimitNames[verdict.LimitCopyWrites], got.Limits[0].What)
}
