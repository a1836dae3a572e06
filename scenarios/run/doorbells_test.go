package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
)

const echoes = `board: {preset: ce-pair}
devices: [{kind: rnic, model: connectx7}]
stacks: [{kind: rnic, rnic: {burst: 32}}]
workload: {kind: %s, sizes: [64], depth: 64, from: 1, to: 0, %s}
`

// TestBatchesShareDoorbells counts the register writes of a core that answers requests: one for each answer and one for
// each receive request, or one for a batch of either.
func TestBatchesShareDoorbells(t *testing.T) {
	const count, batch = 400, 16
	for _, kind := range []string{"echo", "reflector"} {
		var writes []uint64
		for _, options := range []string{"batch: 1", fmt.Sprintf("batch: %d", batch),
			fmt.Sprintf("batch: %[1]d, receive_batch: %[1]d", batch)} {
			var rack *board.Rack
			c := caseOf(t, fmt.Sprintf(echoes, kind, fmt.Sprintf("count: %d, %s", count, options)))
			p, err := c.Play(t.Context(), Options{Traffic: func(r *board.Rack, _ bool) { rack = r }})
			require.NoError(t, err)
			require.True(t, p.Pass(), texts(p))
			core, err := rack.Cards()[0].Memory.Host(nicspec.EndpointHost).Core(0, 0)
			require.NoError(t, err)
			writes = append(writes, core.Core.Stats().Posts)
		}
		t.Logf("%s: %v register writes", kind, writes)
		require.Greater(t, writes[0]-writes[1], uint64(count/2), "answers that come in bursts share doorbells")
		require.Greater(t, writes[1]-writes[2], uint64(count/2), "receive requests wait for a batch")
		require.Less(t, writes[2], uint64(count/2))
	}
}

// TestReceiveBatchesAlwaysEnd checks that nothing waits for a doorbell that never comes, with as few buffers as are
// allowed and messages that fill no last batch.
func TestReceiveBatchesAlwaysEnd(t *testing.T) {
	for _, kind := range []string{"send", "echo", "reflector", "write_imm"} {
		for _, options := range []string{"count: 52, receives: 5, receive_batch: 5",
			"count: 100, receives: 9, receive_batch: 7, signal_every: 3",
			"count: 51, receives: 6, receive_batch: 4, signal_every: 3, shared_receive: true, queue_pairs: 2, batch: 3",
			"count: 3, receives: 5, receive_batch: 5",
			"count: 100000, receives: 4, receive_batch: 3, end: 20us, batch: 8",
		} {
			if kind == "write_imm" {
				options = strings.Replace(options, "shared_receive: true, ", "", 1)
			}
			c := caseOf(t, fmt.Sprintf(echoes, kind, options))
			p, err := c.Play(t.Context(), Options{})
			require.NoError(t, err, "%s, %s", kind, options)
			require.True(t, p.Pass(), "%s, %s: %s", kind, options, texts(p))
		}
	}
}

// TestReceiveBatchErrors checks that batches which never become complete, and options without effect, are refused.
func TestReceiveBatchErrors(t *testing.T) {
	for workload, want := range map[string]string{
		"kind: echo, receives: 8,\n  receive_batch: 9": "f.yaml:6: workload.receive_batch 9: want 1 to 8, as " +
			"workload.receives 8 and workload.signal_every 1 leave",
		"kind: echo, depth: 4, signal_every: 4, receive_batch: 6": "f.yaml:5: workload.receive_batch 6: want 1 to 5, " +
			"as workload.receives 8 and workload.signal_every 4 leave",
		"kind: send, receive_batch: 0": "f.yaml:5: workload.receive_batch 0: want 1 to 16",
		"kind: write, receive_batch: 2": "f.yaml:5: workload.receive_batch 2: kind write takes no receive requests: " +
			"want 1",
		"kind: ring, receive_batch: 2": "f.yaml:5: workload.receive_batch 2: kind ring takes no receive requests",
		"kind: write_imm, receive_bytes: 64": "f.yaml:5: workload.receive_bytes 64: kind write_imm takes no messages " +
			"from buffers of receive requests: want 0",
		"kind: send, receive_bytes: -1": "f.yaml:5: workload.receive_bytes -1: want 0 to 16777216",
		"kind: send, low_latency: true, receive_bytes: 2000": "workload.receive_bytes 2000: buffers of low-latency " +
			"queue pairs have the length of messages: want 0, or workload.low_latency false",
	} {
		_, err := Parse("f.yaml", []byte("name: f\ndescription: d\n"+onRNICs+"workload: {"+workload+"}\n"))
		require.ErrorContains(t, err, want)
	}
}

// TestReceiveBytes checks that receive buffers are as long as the scenario wants them, by the memory that they take.
func TestReceiveBytes(t *testing.T) {
	c := caseOf(t, fmt.Sprintf(echoes, "reflector", "count: 8, receives: 8, receive_bytes: 1984"))
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	c = caseOf(t, fmt.Sprintf(echoes, "reflector", "count: 4000, receives: 4000, receive_bytes: 16MiB"))
	_, err = c.Play(t.Context(), Options{})
	require.ErrorContains(t, err, "4000 messages of 16777216 B")
}

// TestReceiveBytesWithoutMemory checks that buffers which a server has no memory for give one error, and that it names
// what is too large.
func TestReceiveBytesWithoutMemory(t *testing.T) {
	c := caseOf(t, fmt.Sprintf(echoes, "reflector", "count: 64, receive_bytes: 1MiB, queue_pairs: 64"))
	_, err := c.Play(t.Context(), Options{})
	require.ErrorContains(t, err, "want a lower count, depth, size, receives or receive_bytes")
	require.Equal(t, 1, strings.Count(err.Error(), "memory on a server"), "%v", err)
}
