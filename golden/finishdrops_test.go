package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// If the device counts a drop for the wrong cause, the mismatch names the counter that is too high; the one that is
// too low is listed with it.
func TestDropOfAnotherCause(t *testing.T) {
	cfg, clean := calm(t)
	p := newTape(t, clean)
	p.s[p.answer(nicspec.RegCounter(nicspec.CntRxDropRule.Index(0)))].TLP.Data[0]--
	p.s[p.answer(nicspec.RegCounter(nicspec.CntRxDropTooLong.Index(0)))].TLP.Data[0]++
	got := judge(t, cfg, p.s)
	require.Equal(t, Differs, got.Result)
	m := got.List[0]
	require.Equal(t, "RX_DROP_TOO_LONG[0]", m.Field)
	require.Len(t, m.Summary, 1)
	require.Contains(t, m.Summary[0], "RX_DROP_RULE[0]: expected ")
	require.Equal(t, "verilator/rtl/receive/nic_rxtake.sv", m.RTLFile)
}

// A run that ended early is reported for what ended it, not for the counters that were not read.
func TestCountersOfRunThatStopped(t *testing.T) {
	cfg, clean := calm(t)
	p := newTape(t, clean)
	p.s = p.s[:p.find(0, func(x *boundary.Crossing) bool {
		return x.Kind == boundary.TLPIn &&
			tlp.Parse(&x.TLP.Hdr).Address == nicspec.BarBase+uint64(nicspec.RegCounter(nicspec.CntTxWqe.Index()))
	})]
	require.Equal(t, Differs, judge(t, cfg, p.s).Result)
	g, err := New(cfg)
	require.NoError(t, err)
	for i := range p.s {
		g.Observe(p.s[i])
	}
	got := g.FinishStopped()
	require.True(t, got.Passed(), "%v", got)
}
