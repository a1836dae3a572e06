package attribution_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/attribution"
)

// Queues send from overlapping memory, which is rewritten between their reads, and ECN may overwrite bytes of some
// frames. The search must find reads for each frame, whichever entry they were for, in whatever order the frames
// leave.
func TestFramesOfSharedMemory(t *testing.T) {
	const addr, values = 0x1000, 3
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 3 + rng.IntN(10)
		g := newRig(t, n)
		entries, frames, sizes := make([]*attribution.Entry, n), make([][]byte, n), make([]int, n)
		var steps []int // numbers of queues: each appears three times, for an entry that begins, reads and sends
		for q := range n {
			steps = append(steps, q, q, q)
			sizes[q] = 60 + rng.IntN(40)
			g.queues[q].Ctx.EcnMode = uint8(min(1, rng.IntN(4)))
		}
		rng.Shuffle(len(steps), func(i, k int) { steps[i], steps[k] = steps[k], steps[i] })
		for i, q := range steps {
			g.Now++
			switch e := entries[q]; {
			case e == nil:
				entries[q] = g.send(q, addr, sizes[q])
			case slices.Contains(steps[i+1:], q):
				for at := 0; at < sizes[q]; {
					k := min(sizes[q]-at, 1+rng.IntN(sizes[q]))
					part := fill(k, byte(rng.IntN(values)))
					g.complete(g.request(addr+uint64(at), k, nil), part)
					frames[q] = append(frames[q], part...)
					at += k
				}
			default:
				require.True(t, g.Sends(g.slot(e), frames[q]), "seed %d: %v, step %d", seed, steps, i)
				e.Left = true
			}
		}
	}
}
