package windows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

func devctl(mps, mrrs uint32, relaxed bool) uint32 {
	var v nicspec.DevctlReg
	v.SetMps(mps)
	v.SetMrrs(mrrs)
	v.SetRelaxedOrdering(relaxed)
	return uint32(v)
}

// Once a write of DEVCTL must be visible, at most LateRequests requests may still obey the old setting, in size or
// attributes.
func TestDevctl(t *testing.T) {
	const wrote, over = 1000, 1001 + nicspec.VisibleCycles
	for _, former := range []struct {
		name string
		n    int
		attr tlp.Attr
	}{{"size", 256, 0}, {"attributes", 128, tlp.RelaxedOrder}} {
		regs := core.NewRegs(nicspec.DefaultBuild())
		var d Devctl
		regs.Write32(nicspec.RegDevctl, devctl(1, 1, true))
		d.Reset(regs)
		_, open := d.Settling()
		require.False(t, open)
		regs.Write32(nicspec.RegDevctl, devctl(0, 0, false))
		d.Written(regs, wrote)
		until, now := d.Settling()
		require.True(t, now)
		require.EqualValues(t, over-1, until)
		ask := func(cycle int64) Following {
			_, ok := d.Sized(false, former.n)
			require.True(t, ok, former.name)
			return d.Follows(former.attr, true, cycle)
		}
		for range 2 * LateRequests { // these requests do not count: the new setting may not have taken effect
			require.Zero(t, ask(over-1).Late)
		}
		for range LateRequests {
			f := ask(over)
			require.False(t, f.Late || f.Wrong, former.name)
		}
		f := ask(over)
		require.True(t, f.Late, former.name)
		require.EqualValues(t, over-1, f.Since)
		d.Reset(regs)
		most, ok := d.Sized(false, 256)
		require.False(t, ok, "the former one is forgotten")
		require.Equal(t, 128, most)
		f = d.Follows(tlp.RelaxedOrder, true, over)
		require.Equal(t, Following{Wrong: true, Want: 1}, f)
	}
}

// If there are too many settings, the two oldest are merged, and both remain allowed.
func TestDevctlForgets(t *testing.T) {
	regs := core.NewRegs(nicspec.DefaultBuild())
	var d Devctl
	regs.Write32(nicspec.RegDevctl, devctl(2, 0, false))
	d.Reset(regs)
	for i := range int64(keptSettings) {
		regs.Write32(nicspec.RegDevctl, devctl(0, 0, false))
		d.Written(regs, i)
	}
	require.EqualValues(t, 1, d.Lost())
	_, ok := d.Sized(false, 512)
	require.True(t, ok)
}
