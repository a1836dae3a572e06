package fuzz

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
)

// The clock's period is no part of a NIC's build. The same build at 400 MHz and at 1.1 GHz has every crossing in the
// same cycle, and the simulated time is that number of cycles times the period.
func TestEveryClockIsOneBuild(t *testing.T) {
	const programs = 6
	for _, nic := range []string{device.Model, device.RTL} {
		t.Run(nic, func(t *testing.T) {
			c := begun(t, options(nic, programs))
			require.NoError(t, c.build(context.Background()))
			for number := range programs {
				p := c.generate(number)
				p.Board.Delay, p.Board.Jitter = 0, 0 // memory latency is in nanoseconds, so it would change the cycles
				if number%2 == 0 {
					p.Board.Stall = 0
				}
				slow, slowEnd := c.atClock(t, p, 0)
				fast, fastEnd := c.atClock(t, p, 909)
				require.Equal(t, slow.Report.Digest, fast.Report.Digest, "program %d", number)
				require.Equal(t, slow.Build, fast.Build)
				require.Equal(t, slow.Cycles, fast.Cycles)
				require.EqualValues(t, slow.Cycles*2500, slow.Sim)
				require.EqualValues(t, fast.Cycles*909, fast.Sim)
				require.Equal(t, slowEnd/2500, fastEnd/909, "the cycle that was reached in program %d", number)
			}
		})
	}
}

// atClock plays a program with the given clock period and returns the time of its last crossing.
func (c *campaign) atClock(t *testing.T, p *program.Program, period simcore.Ps) (v *player.Verdict, last simcore.Ps) {
	t.Helper()
	var b *testbed.Bed
	v = player.Run(p, context.Background(), func(s testbed.Spec) (*testbed.Bed, error) {
		s.PeriodPs = period
		var err error
		if b, err = c.boardOf(c.variant(0))(s); err == nil {
			b.NIC.Observe(func(x boundary.Crossing) { last = b.Cycles(int(x.Last)) })
		}
		return b, err
	}, nil)
	require.True(t, v.Pass(), "%v %v", v.Err, v.Report)
	require.Greater(t, b.Engine.Now(), last)
	return v, last
}
