package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

func TestPushChaosPasses(t *testing.T) {
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 300, pushes: true}, func(o *chaosOpt) { o.copies = o.seed%3 == 0 },
		sentFrames)
}

// pushes records three pushed Sends: one before CTRL.tx_enable is cleared, one while it is 0, and one whose slot
// the device reads although it was pushed.
func pushes(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Parts |= nicspec.PartPush
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.OpenTx(0, 4)
	for i := range 3 {
		if i == 1 {
			m.Write32(nicspec.RegCtrl, 1)
			r.step(simcore.Microsecond)
		}
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 1, FComplete: true, WqeId: uint32(i)}
		(&nicspec.SegFields{Key: goodKey, Len: 100, Addr: 0x1000 + uint64(i)*4096}).Encode(w.Slots[:])
		m.push(0, &w)
		m.pushTx(0)
		if i == 1 {
			r.step(simcore.Microsecond)
			m.Write32(nicspec.RegCtrl, 3)
		}
		r.settle()
	}
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

func TestPushSabotageIsCaught(t *testing.T) {
	cfg, clean := pushes(t)
	p := judge(t, cfg, clean)
	require.True(t, p.Passed(), "%v", p)
	require.EqualValues(t, 3, p.Stats.FramesOut)
	ctrl := func(x *boundary.Crossing) bool {
		if x.Kind != boundary.TLPIn {
			return false
		}
		h := tlp.Parse(&x.TLP.Hdr)
		return h.Kind == tlp.MWr && h.Address == nicspec.BarBase+nicspec.RegCtrl
	}
	slotRead := func(p *tape, n int, at int) {
		x := clone(p.s[p.find(0, readOf(keyBus))])
		p.header(&x, func(h *tlp.Header) {
			h.Tag, h.Address, h.Length, h.Addr64, h.FirstBE, h.LastBE = 200, 0x2000_0000+64+64*uint64(n), 16, false,
				0xf, 0xf
		})
		p.insert(at, x)
	}
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"slot read after its pushed bytes were used", func(p *tape) { slotRead(p, 0, p.find(0, readOf(keyBus))+1) },
			"txq 0", "T2", "read"},
		{"slot read after its entry has ended", func(p *tape) { slotRead(p, 0, p.find(0, txCqe(0))+1) }, "txq 0", "T2",
			"read"},
		{"pushed bytes used while the slot is read", func(p *tape) { slotRead(p, 0, p.find(0, readOf(keyBus))) },
			"device", "T4", "Address"},
		{"starts while tx_enable is 0", func(p *tape) { p.move(p.find(0, readOf(keyBus+4096)), p.find(2, ctrl)) },
			"txq 0", "W2", "tx_enable"},
		{"other bytes sent", func(p *tape) { p.get(0, frameOut(0)).Frame.Data[3] ^= 1 }, "txq 0", "T5", ""},
	})
}
