package golden

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// chaosSeeds is the number of runs of each chaos test.
var chaosSeeds = 24

// upTo returns the seeds from 0 to n-1.
func upTo(n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	return seeds
}

// chaosPasses makes a run with each seed, which draws faults and stalls, and requires that the referee finds nothing. o
// holds the options of all runs; function `also`, if not nil, draws further options from the seed.
func chaosPasses(t *testing.T, seeds []uint64, o chaosOpt, also func(o *chaosOpt),
	done func(t *testing.T, c *chaos, s *Stats)) {
	for _, seed := range seeds {
		o := o
		o.seed, o.faults, o.config, o.queues, o.stall = seed, seed&1 != 0, seed&2 != 0, seed&4 != 0, int(seed)/8%3*30
		if also != nil {
			also(&o)
		}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			c := newChaos(t, o)
			c.run()
			p := judgeHeld(t, c.config(), c.r.tape, c.r.held)
			require.True(t, p.Passed(), "%.4000v", p)
			done(t, c, &p.Stats)
		})
	}
}

// config returns the referee's configuration for the run.
func (c *chaos) config() Config {
	return DefaultConfig(c.r.opt.spec.Build)
}

func sentFrames(t *testing.T, _ *chaos, s *Stats) { require.NotZero(t, s.FramesOut) }

func TestChaosPasses(t *testing.T) {
	chaosPasses(t, upTo(chaosSeeds), chaosOpt{steps: 400}, nil, func(t *testing.T, _ *chaos, s *Stats) {
		require.NotZero(t, s.Delivered)
		require.NotZero(t, s.FramesOut)
	})
}

// Many entries name the same memory, which is rewritten, and reads fail. The referee must find an attribution of the
// reads. These seeds once failed.
func TestDenseChaosPasses(t *testing.T) {
	seeds := []uint64{67, 114, 406, 440, 890, 939, 1774, 1816}
	chaosPasses(t, seeds, chaosOpt{steps: 400, dense: true}, func(o *chaosOpt) { o.faults = o.seed%8 != 0 }, sentFrames)
}
