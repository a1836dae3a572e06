package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// entrances records frames that are dropped at the entrance: one while receive is disabled, a runt and an oversize
// frame, all long before a reset, and a runt during the reset.
func entrances(t testing.TB) (Config, []boundary.Crossing, []boundary.Held) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	r.peers[0].send(destined(1, 100)) // CTRL.rx_enable is 0
	r.settle()
	r.step(simcore.Microsecond)
	m.Write32(nicspec.RegCtrl, 3)
	r.step(simcore.Microsecond)
	r.peers[0].send(pattern(40, 1))
	r.peers[0].send(pattern(nicspec.FrameMax+1, 1))
	r.settle()
	r.step(simcore.Microsecond)
	m.Write32(nicspec.RegCtrl, flrBit)
	r.peers[0].send(pattern(41, 1))
	for n := 0; m.Reg(nicspec.RegCtrl, 1) != 0; n++ {
		require.Less(t, n, 1000)
	}
	m.Write32(nicspec.RegCtrl, 3)
	r.step(simcore.Microsecond)
	r.peers[0].send(destined(0, 100)) // no rule matches the frame
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape, r.held
}

// A frame that was dropped at the entrance long before a reset must be counted for its own cause, not as disabled
// [L2].
func TestEntranceSabotageIsCaught(t *testing.T) {
	cfg, clean, held := entrances(t)
	value := func(p *tape, c nicspec.PortCounter) *byte {
		return &p.s[p.answer(nicspec.RegCounter(c.Index(0)))].TLP.Data[0]
	}
	p := newTape(t, clean)
	require.EqualValues(t, 3, *value(p, nicspec.CntRxDropDisabled)+*value(p, nicspec.CntRxDropRunt))
	instead := func(was, is nicspec.PortCounter, n byte) func(p *tape) {
		return func(p *tape) { *value(p, was) -= n; *value(p, is) += n }
	}
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"a runt as disabled", func(p *tape) {
			*value(p, nicspec.CntRxDropDisabled) += *value(p, nicspec.CntRxDropRunt)
			*value(p, nicspec.CntRxDropRunt) = 0
		}, "counters", "C1", "RX_DROP_DISABLED[0]"},
		{"one too long as disabled", instead(nicspec.CntRxDropOversize, nicspec.CntRxDropDisabled, 1), "counters", "C1",
			"RX_DROP_DISABLED[0]"},
		{"one too long as a runt", instead(nicspec.CntRxDropOversize, nicspec.CntRxDropRunt, 1), "counters", "C1", ""},
		{"a runt as an overflow", instead(nicspec.CntRxDropRunt, nicspec.CntRxDropOverflow, 1), "counters", "C1",
			"RX_DROP_OVERFLOW[0]"},
		{"one disabled as a runt", func(p *tape) {
			*value(p, nicspec.CntRxDropRunt) += *value(p, nicspec.CntRxDropDisabled)
			*value(p, nicspec.CntRxDropDisabled) = 0
		}, "counters", "C1", ""},
	}, held...)
}

// A frame that spans a whole reset is dropped as disabled, or for a cause that applied before the reset. A setting
// written after the reset must not be its cause [L2].
func TestHangingFrameSabotageIsCaught(t *testing.T) {
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegRxDefault, uint32(nicspec.ActionQueue)<<16)
	m.Write32(nicspec.RegCtrl, 3)
	r.settle()
	r.step(simcore.Microsecond)
	m.Write32(nicspec.RegCtrl, flrBit)
	for n := 0; m.Reg(nicspec.RegCtrl, 1) != 0; n++ {
		require.Less(t, n, 1000)
	}
	m.Write32(nicspec.RegCtrl, 3)
	r.step(simcore.Microsecond)
	r.peers[0].send(destined(0, 100)) // no rule matches, and RX_DEFAULT has its reset value
	r.settle()
	m.readCounters()
	cfg := DefaultConfig(o.spec.Build)
	got := judgeHeld(t, cfg, r.tape, r.held)
	require.True(t, got.Passed(), "%v", got)
	sabotagesAreCaught(t, cfg, r.tape, []sabotage{
		{"it has begun before the reset", func(p *tape) {
			p.s[p.afterwards(frameIn)].First = p.s[p.find(0, isReset)].Last - 5
		}, "counters", "C1", "RX_DROP_NO_RULE[0]"},
	}, r.held...)
}
