package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each process has its own queue pairs, cores and memory: three processes deliver three times as much as one, in less
// than three times the time.
func TestProcesses(t *testing.T) {
	const text = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 2, " +
		"low_latency_qps: 8}}]\n" +
		"workload: {processes: %d, queue_pairs: 2, count: 12, depth: 4, %s}"
	for _, load := range []string{
		"kind: send, sizes: [300, 5000]", "kind: write, both_ways: true", "kind: echo, shared_receive: true",
		"kind: read, pieces: 2",
		"kind: send, low_latency: true, sizes: [64]", "kind: send, transport: ud, sizes: [100]",
		"kind: list_walk, sizes: [64]", "kind: send, events: true",
		"kind: write, transport: solar, mtu: 4096, sizes: [4096, 100]",
	} {
		var alone *Played
		for _, n := range []int{1, 3} {
			p, err := caseOf(t, fmt.Sprintf(text, n, load)).Play(t.Context(), Options{})
			require.NoError(t, err, load)
			require.True(t, p.Pass(), "%s: %s", load, texts(p))
			if alone == nil {
				alone = p
				continue
			}
			require.Equal(t, n*alone.Result.Messages, p.Result.Messages, load)
			require.Equal(t, n*int(alone.Result.Bytes), int(p.Result.Bytes), load)
			require.Len(t, p.Result.Streams, n*len(alone.Result.Streams), load)
			require.Less(t, p.Traffic, 3*alone.Traffic, "%s: they run beside each other", load)
		}
	}
}

// If posting limits the rate, four processes on four cores are more than twice as fast as one process with as many
// queue pairs. One core posts a message in 150 ns, so four of them in 38 ns. A data core takes a quarter of a
// microsecond (TestConnections): four would take 62 ns, and limit the rate; twelve take 21 ns.
func TestProcessesHaveCores(t *testing.T) {
	const text = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 12}}]\n" +
		"workload: {processes: %d, queue_pairs: %d, kind: write, sizes: [64], count: 100, depth: 16, payload: reused}"
	var took []int64
	for _, n := range []int{1, 4} {
		p, err := caseOf(t, fmt.Sprintf(text, n, 16/n)).Play(t.Context(), Options{Unjudged: true})
		require.NoError(t, err)
		require.Equal(t, 1600, p.Result.Messages)
		took = append(took, int64(p.Traffic))
	}
	require.Less(t, 2*took[1], took[0], "four cores post faster than one")
}

// Over an RDMA NIC, too, each process has a context and a core: where posting limits the rate, three are more than
// twice as fast as one with three queue pairs. Their objects have numbers of their own.
func TestProcessesOverRNIC(t *testing.T) {
	const text = "board: {preset: %s}\ndevices: [{kind: rnic, model: connectx7}]\nstacks: [{kind: rnic}]\n" +
		"workload: {processes: %d, queue_pairs: %d, count: 60, depth: 16, sizes: [64], %s}"
	for _, board := range []string{"connectx7-cores-pair", "bf3-cores-pair"} {
		for _, load := range []string{"kind: write, payload: reused", "kind: read", "kind: echo, events: true"} {
			var took []int64
			for _, n := range []int{1, 3} {
				p, err := caseOf(t, fmt.Sprintf(text, board, n, 3/n, load)).Play(t.Context(), Options{})
				require.NoError(t, err, load)
				require.True(t, p.Pass(), "%s: %s", load, texts(p))
				took = append(took, int64(p.Traffic))
			}
			require.Less(t, 2*took[1], took[0], "%s: three cores post faster than one", load)
		}
	}
}
