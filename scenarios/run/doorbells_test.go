package run

import (
	"fmt"
	"math/rand/v2"
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

// TestServerSharesAQueue has four applications of a server share a receive queue, with few buffers and batches that
// messages do not fill, beside cables that lose packets in places. Every message arrives as with a queue for each
// application, and the server's cores take a lock for each doorbell, which a single application does not need.
func TestServerSharesAQueue(t *testing.T) {
	const fleet = "board: {preset: ce-fleet, fleet: {machines: %d}}\n" +
		"devices: [{kind: rnic, model: connectx7}]\nstacks: [{kind: rnic, rnic: {burst: 32}}]\nexpect: {compare: " +
		"messages}\nworkload: {kind: %s, sizes: [64, 700, 5], from: %s, to: 0, shared_receive: true, %s}\n"
	r := rand.New(rand.NewPCG(1, 2))
	for i, kind := range []string{"reflector", "send", "echo", "write_imm", "reflector", "echo", "send", "reflector"} {
		from, machines := "[1, 2]", 3
		if i%2 == 0 {
			from, machines = "[1, 2, 3, 4]", 5
		}
		every, batch := 1+r.IntN(8), 1+r.IntN(8)
		receives := every + batch - 1 + r.IntN(3)
		options := fmt.Sprintf("count: %d, depth: 8, signal_every: %d, receive_batch: %d, receives: %d, batch: %d, "+
			"queue_pairs: %d, processes: %d, seed: %d", 30+r.IntN(90), every, batch, receives, 1+r.IntN(8),
			1+r.IntN(2), 1+i%2, i)
		switch i {
		case 4: // datagrams that find no receive request are lost
			options = strings.Replace(options, fmt.Sprint(", receives: ", receives), ", transport: ud", 1)
		case 5:
			options += "}\nfaults: {wire: {chances: {loss: 0.02}}"
		case 6:
			options += ", both_ways: true"
		case 7:
			options += ", end: 20us"
		}
		var digests []string
		for _, by := range []string{"application", "server"} {
			p, err := caseOf(t, fmt.Sprintf(fleet, machines, kind, from, "shared_receive_by: "+by+", "+options)).
				Play(t.Context(), Options{})
			require.NoError(t, err, "%s, %s", kind, options)
			require.True(t, p.Pass(), "%s, %s, by %s: %s", kind, options, by, texts(p))
			digests = append(digests, p.Digest)
		}
		require.Equal(t, digests[0], digests[1], "%s, %s", kind, options)
	}
}

// TestSharedQueueHasALock checks what a shared receive queue costs the cores of a server: a lock for each list of
// requests if two applications post, and nothing if there is one.
func TestSharedQueueHasALock(t *testing.T) {
	stores := func(from, by string) uint64 {
		var at [2]uint64 // stores of the server's cores until the traffic starts, and until it has settled
		c := caseOf(t, fmt.Sprintf("board: {preset: ce-fleet, fleet: {machines: 3}}\ndevices: [{kind: rnic, model: "+
			"connectx7}]\nstacks: [{kind: rnic}]\nworkload: {kind: send, sizes: [64], count: 64, from: %s, to: 0, "+
			"shared_receive: true, receives: 8, receive_batch: 8, shared_receive_by: %s}\n", from, by))
		p, err := c.Play(t.Context(), Options{Traffic: func(r *board.Rack, settled bool) {
			n := uint64(0)
			for i := range 2 {
				core, err := r.Cards()[0].Memory.Host(nicspec.EndpointHost).Core(0, i)
				require.NoError(t, err)
				n += core.Core.Stats().Stores
			}
			if at[1] = n; !settled {
				at[0] = n
			}
		}})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		return at[1] - at[0]
	}
	require.Equal(t, stores("1", "application"), stores("1", "server"))
	alone, shared := stores("[1, 2]", "application"), stores("[1, 2]", "server")
	require.EqualValues(t, 2*2*7, shared-alone, "both store the lock's word twice for seven lists behind the first")
}

// TestSharersErrors checks that a queue for a whole server is refused, by field, where stacks or flows have none.
func TestSharersErrors(t *testing.T) {
	for text, want := range map[string]string{
		onRNICs + "workload: {kind: send, shared_receive_by: server}": "f.yaml:5: workload.shared_receive_by server: " +
			"each flow has a receive queue of its own: want application, or workload.shared_receive true",
		onRNICs + "workload: {kind: send, shared_receive_by: core}": `f.yaml:5: workload.shared_receive_by "core": ` +
			"want application or server",
		"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {shared_receive: true, " +
			"shared_receive_by: server}": "f.yaml:4: stacks[0].kind flexins: its applications share no receive queue " +
			"with each other: want rnic, or workload.shared_receive_by application",
	} {
		_, err := Parse("f.yaml", []byte("name: f\ndescription: d\n"+text+"\n"))
		require.ErrorContains(t, err, want)
	}
}

// TestReflectorsNeedReceives checks that reflectors which share a receive queue both ways have buffers for answers
// beside the requests that they reflect: fewer are refused, by field, and as many as that end every run.
func TestReflectorsNeedReceives(t *testing.T) {
	const workload = onRNICs + "workload: {kind: reflector, depth: 8, queue_pairs: 2, both_ways: true, " +
		"shared_receive: true, signal_every: 8, %s}\n"
	_, err := Parse("f.yaml", []byte("name: f\ndescription: d\n"+fmt.Sprintf(workload, "count: 40, receives: 15")))
	require.ErrorContains(t, err, "f.yaml:5: workload.receives 15: kind reflector with workload.both_ways and "+
		"workload.shared_receive keeps requests in the buffers that answers need: want 16 or more, twice "+
		"workload.depth or all of workload.count")
	for _, enough := range []string{"count: 40, receives: 16, receive_batch: 9", "count: 9, receives: 9",
		"count: 40, transport: uc, receives: 15"} {
		p, err := caseOf(t, fmt.Sprintf(workload, enough)).Play(t.Context(), Options{})
		require.NoError(t, err)
		require.True(t, p.Pass(), "%s: %s", enough, texts(p))
	}
}
