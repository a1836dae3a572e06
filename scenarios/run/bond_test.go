package run

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/msg"
)

// carried counts the frames on a cable.
type carried int

// Func implements sim.Hook.
func (c *carried) Func(ctx sim.HookCtx) {
	if _, ok := ctx.Item.(*msg.Frame); ok && ctx.Pos == sim.HookPosConnStartSend {
		*c++
	}
}

// Stacks whose NICs have one port and a bond of two cables use both cables, lose nothing, and have the same results as
// over one cable.
func TestStacksOverBonds(t *testing.T) {
	const sprays = "flexins, flexins: {data: {recovery: 1, spray: true}}" // over many UDP source ports
	for stack, preset := range map[string]string{sprays: "bf3-cores", "rnic": "connectx7-cores"} {
		for _, network := range []string{"{kind: back_to_back}", "{kind: switch, switch: {preset: cut-through}}"} {
			play := func(bond string) (p *Played, counts []*carried) {
				card := "preset: " + preset + ", cards: [{preset: " + preset + ", ports: 1" + bond + "}]"
				c := caseOf(t, "board:\n  servers:\n  - {name: A, "+card+"}\n  - {name: B, "+card+"}\n  network: "+
					network+"\nstacks: [{kind: "+stack+"}]\nworkload: {kind: write, queue_pairs: 4, both_ways: true, "+
					"count: 40, sizes: [4096]}")
				p, err := c.Play(t.Context(), Options{Traffic: func(r *board.Rack, settled bool) {
					for i := 0; i < len(r.Cables) && !settled; i++ {
						counts = append(counts, new(carried))
						r.Cables[i].Entry[0].AcceptHook(counts[i])
					}
				}})
				require.NoError(t, err)
				require.True(t, p.Pass(), texts(p))
				return p, counts
			}
			plain, _ := play("")
			p, counts := play(", bond: {cables: 2}")
			require.Equal(t, plain.Digest, p.Digest)
			require.Len(t, counts, map[bool]int{false: 2, true: 4}[network[7] == 's'])
			all := 0
			for _, n := range counts {
				all += int(*n)
			}
			require.Positive(t, all)
			for i, n := range counts {
				if stack != sprays { // its frames have one UDP source port, so each direction is one flow
					break
				}
				require.Greater(t, int(*n), all/len(counts)/3, "%s, %s: cable %d of %d frames", stack, network, i, all)
			}
		}
	}
}
