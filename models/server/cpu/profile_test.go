package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

// TestActivitiesAddUp checks that time is attributed to the activity that spends it, that all activities except polls
// add up to the busy time, and that profiling changes no time.
func TestActivitiesAddUp(t *testing.T) {
	var ends [2]simcore.Ps
	for i, profiled := range []bool{false, true} {
		b := newBench(t, simcore.NewEngine(), plain(), 50*ns)
		if profiled {
			b.core.Profile()
		}
		steps := 0
		_, err := b.core.Add(cpu.LoopSpec{Name: "loop", Poll: 5, As: cpu.Queues}, func(c *cpu.Core) bool {
			if steps++; steps > 10 {
				return false
			}
			require.NoError(t, c.Store(64, make([]byte, 64))) // as the loop
			c.ComputeAs(cpu.Parse, 20)
			require.NoError(t, c.Load(128, make([]byte, 8))) // still parsing
			c.ComputeAs(cpu.Build, 7)
			c.Compute(3) // still building
			return true
		})
		require.NoError(t, err)
		b.at(10_000*ns, func() { b.core.ComputeAs(cpu.Application, 30) })
		b.run()
		ends[i] = b.now()
		sum := simcore.Ps(0)
		for a := range cpu.NumActivities {
			if a != cpu.Poll {
				sum += b.core.TimeIn(a)
			}
		}
		if !profiled {
			require.Zero(t, sum)
			continue
		}
		require.Equal(t, b.core.Stats().Busy, sum)
		require.EqualValues(t, 10*10*ns, b.core.TimeIn(cpu.Build))
		require.EqualValues(t, 30*ns, b.core.TimeIn(cpu.Application))
		require.EqualValues(t, 10*(20+50)*ns, b.core.TimeIn(cpu.Parse), "loads that wait belong to it")
		require.EqualValues(t, 5*ns, b.core.TimeIn(cpu.Poll), "a step that found nothing")
	}
	require.Equal(t, ends[0], ends[1])
}
