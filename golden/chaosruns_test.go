package golden

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// chaosSeeds is how many runs the test makes; more were made once.
var chaosSeeds = 24

// upTo is the seeds of that many runs.
func upTo(n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	return seeds
}

// chaosPasses makes a run with each seed, which decides what goes wrong and how
// much the streams stall, and checks that the referee has no objection. o is
// what they have in common; also, if not nil, what the seed decides besides.
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

// config is that of the referee of such a run.
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

// When many entries name the same memory, whose read is whose comes out by and by, also when reads fail or the memory
// is written meanwhile. With these seeds it came out wrong once.
func TestDenseChaosPasses(t *testing.T) {
	seeds := []uint64{67, 114, 406, 440, 890, 939, 1774, 1816}
	chaosPasses(t, seeds, chaosOpt{steps: 400, dense: true}, func(o *chaosOpt) { o.faults = o.seed%8 != 0 }, sentFrames)
}
