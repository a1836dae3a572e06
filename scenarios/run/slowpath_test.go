package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
)

// Slow packets are short. In buffers of 2 KB runs of them are copied with long gaps, in short ones with short gaps.
// What arrives is the same, also if packets are copied only when a receive call waits for them.
func TestSlowPackets(t *testing.T) {
	play := func(options string) (p *Played, written uint64) {
		text := "name: x\ndescription: d\nboard: {preset: ce-pair}\nstacks: [{kind: ceio, ceio: {credits: 0, flows: 2" +
			options + "}, hostnet: {rx_cycles: 500}}, {kind: udp}]\nworkload: {kind: echo, transport: udp, from: 1, " +
			"to: 0, queue_pairs: 2, " +
			"sizes: [100], count: 1500, depth: 256}\n"
		list, err := Parse("x.yaml", []byte(text))
		require.NoError(t, err)
		p, err = list[0].Play(t.Context(), Options{Unjudged: true, Stats: StatsSummary,
			Traffic: func(rack *board.Rack, _ bool) {
				written = rack.Cards()[0].Memory.Host(nicspec.EndpointHost).LLC[0].Counters()[mem.Device].WriteBytes
			}})
		require.NoError(t, err)
		require.Empty(t, p.Findings)
		return p, written
	}
	plain, long := play("")
	short, few := play(", slow_bytes: 192")
	waiting, _ := play(", slow_bytes: 192, async: false")
	require.Equal(t, plain.Digest, short.Digest)
	require.Equal(t, plain.Digest, waiting.Digest)
	require.Less(t, 3*few, long)
}

func TestSlowBytes(t *testing.T) {
	for options, want := range map[string]string{
		"slow_bytes: 100": "x.yaml:4: stacks[0].ceio.slow_bytes 100: want a multiple of 64",
		"slow_bytes: 128": "slow_bytes 128: frames of workload have up to 158 B: want that or more, or 0",
	} {
		_, err := Parse("x.yaml", []byte(fmt.Sprintf("name: x\ndescription: d\nboard: {preset: ce-pair}\n"+
			"stacks: [{kind: ceio, ceio: {%s}}, {kind: udp}]\n"+
			"workload: {kind: echo, transport: udp, from: 1, to: 0, sizes: [100]}\n", options)))
		require.Error(t, err)
		require.True(t, strings.Contains(err.Error(), want), err.Error())
	}
}
