package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

const toQueue0 = uint32(nicspec.ActionQueue) << 16

// pattern returns n pseudo-random bytes.
func pattern(n int, seed uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = uint8(verdict.Fold(seed<<32+uint64(i)^verdict.MixA, verdict.MixB))
	}
	return b
}

func TestReceiveAFewFrames(t *testing.T) {
	r := newRig(t, defaultRig())
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0)
	m.OpenRx(0, 4, nil)
	m.post(0, 8)
	r.settle()
	for i := range 6 {
		r.peers[0].send(pattern(60+i*301, uint64(i)))
	}
	m.readCounters()
	p := judge(t, DefaultConfig(r.opt.spec.Build), r.tape)
	require.True(t, p.Passed(), "%v", p)
	require.EqualValues(t, 6, p.Stats.Delivered)
	t.Log(p)
}

func TestSendAFewFrames(t *testing.T) {
	r := newRig(t, defaultRig())
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.key(5, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 9, VaBase: 0x1000, Length: 1 << 20,
		BusBase: 0x0100_0000_0070_0000})
	m.OpenTx(2, 4)
	m.Write(0x0100_0000_0070_0000, pattern(1<<16, 3))
	for i := range 6 {
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 2, InlineLen: 14, FComplete: i&1 == 1,
			WqeId: uint32(100 + i)}
		copy(w.Slots[:], pattern(16, 7))
		for s := range 2 {
			(&nicspec.SegFields{Key: 5 | 9<<24, Len: uint32(100 + 333*i*s), Addr: 0x1001 + uint64(i)*1000}).Encode(
				w.Slots[16+16*s:])
		}
		m.push(2, &w)
	}
	m.RingTx(2)
	m.readCounters()
	require.Equal(t, 6, r.peers[0].got)
	p := judge(t, DefaultConfig(r.opt.spec.Build), r.tape)
	require.True(t, p.Passed(), "%v", p)
	t.Log(p)
}
