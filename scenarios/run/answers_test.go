package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnswerErrors checks that lengths of answers are refused where answers have none, by the line of the field.
func TestAnswerErrors(t *testing.T) {
	for workload, want := range map[string]string{
		"kind: echo, sizes: [400],\n  answer: 0": "f.yaml:9: workload.answer 0: want 1 to 400, the bytes of a request",
		"kind: echo, sizes: [400],\n  answer: 401B": "f.yaml:9: workload.answer 401: want 1 to 400, the bytes of a " +
			"request",
		"kind: kv, answer: 64": "f.yaml:8: workload.answer: kind kv has no answers whose length could be chosen: " +
			"want none",
	} {
		_, err := Parse("f.yaml", []byte(ceioText("ceio", "  ceio: {}", workload)))
		require.ErrorContains(t, err, want)
	}
	const rnics = "name: f\ndescription: d\n" + onRNICs
	for workload, want := range map[string]string{
		"kind: echo, answer: 3": "f.yaml:5: workload.answer 3: want 4 to 1024, the bytes of a request",
		"kind: ping_pong, depth: 1, sizes: [64, 9],\n  answer: 10": "f.yaml:6: workload.answer 10: want 4 to 9, the " +
			"bytes of a request",
		"kind: reflector, sizes: [64, 3], answer: 64": "f.yaml:5: workload.answer 64: an answer has 4 B or more, and " +
			"no more than its request, of which one has 3: want none, or workload.sizes of 4 or more",
		"kind: reflector, transport: raw, sizes: [64], answer: 64": "f.yaml:5: workload.answer: over raw frames go " +
			"back whole: want none, or workload.transport rc, uc or ud",
		"kind: reflector, notice: bytes, answer: 64": "f.yaml:5: workload.answer: with workload.notice every message " +
			"ends with a sum over its bytes: want none, or workload.notice completion",
		"kind: write, head: 64": "f.yaml:5: workload.head: kind write has no messages that an application reads as " +
			"they come: want 0",
		"kind: send, payload: reused, head: 64": "f.yaml:5: workload.head 64: want 0, or workload.payload fresh and " +
			"workload.notice completion",
		"kind: send, head: -1":   "f.yaml:5: workload.head -1: want 0 to 16777216",
		"kind: send, answer: 64": "f.yaml:5: workload.answer: kind send has no answers whose length could be chosen",
	} {
		_, err := Parse("f.yaml", []byte(rnics+"workload: {"+workload+"}\n"))
		require.ErrorContains(t, err, want)
	}
}

// TestShortAnswers checks that answers have the length that the scenario gives, in results and statistics.
func TestShortAnswers(t *testing.T) {
	c := caseOf(t, strings.TrimPrefix(ceioText("ddio", "", "kind: echo, sizes: [1000], answer: 64B, count: 20"),
		"name: f\ndescription: d\n"))
	p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.EqualValues(t, 20*(1000+64), p.Result.Bytes)
	sizes := map[string]int{}
	for _, l := range p.Stats.Latency {
		sizes[l.Kind+" "+l.Measure] = l.Bytes
	}
	require.Equal(t, map[string]int{"echo wire": 1000, "echo hand_over": 1000, "echo answer": 1000,
		"echo answer wire": 64, "echo answer hand_over": 64}, sizes)
}

// TestShortAnswersOverVerbs checks that answers over queue pairs have the length that the scenario gives, whatever the
// transport and the length of requests, that a head changes no byte, and that answers are followed on the wire.
func TestShortAnswersOverVerbs(t *testing.T) {
	for workload, bytes := range map[string]struct{ requests, answer int }{
		"kind: echo, sizes: [1500, 1000], answer: 64B":                                        {2500, 64},
		"kind: echo, sizes: [32, 30], inline: true, answer: 28":                               {62, 28},
		"kind: echo, transport: uc, sizes: [1500, 1000], answer: 64":                          {2500, 64},
		"kind: ping_pong, depth: 1, sizes: [1500, 1000], head: 2000, answer: 64":              {2500, 64},
		"kind: reflector, sizes: [1500, 1000], head: 32, answer: 64":                          {2500, 64},
		"kind: reflector, transport: ud, sizes: [900, 70], answer: 4":                         {970, 4},
		"kind: reflector, shared_receive: true, pieces: 1, sizes: [2000, 3000], answer: 1500": {5000, 1500},
		"kind: reflector, signal_every: 3, batch: 2, receive_batch: 4, sizes: [9], answer: 8": {18, 8},
	} {
		c := caseOf(t, onRNICs+"workload: {"+workload+", count: 40}\n")
		p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
		require.NoError(t, err, workload)
		require.True(t, p.Pass(), "%s: %s", workload, texts(p))
		require.EqualValues(t, 20*bytes.requests+40*bytes.answer, p.Result.Bytes, workload)
		onWire := false
		for _, l := range p.Stats.Latency {
			if strings.HasSuffix(l.Kind, "answer") {
				require.Equal(t, bytes.answer, l.Bytes, "%s: %s", workload, l.Measure)
				onWire = onWire || l.Measure == "wire"
			}
		}
		require.Equal(t, !strings.Contains(workload, "transport"), onWire, workload)
	}
}

// TestHeadsWait checks that a core which reads the head of a message first waits for memory once more, if a cache of
// the host holds neither head nor rest.
func TestHeadsWait(t *testing.T) {
	const text = `board: {preset: ce-pair, servers: [{preset: bf3-cores, cards: [{preset: bf3-cores,
  switch: {host: {host: {preset: host-ce, llc: {preset: host-ce-6, device_ways: 0}}}}}]}]}
devices: [{kind: rnic, model: connectx7}]
stacks: [{kind: rnic, rnic: {burst: 32}}]
workload: {kind: reflector, sizes: [512], depth: 1, count: 300, receives: 64, receive_bytes: 1984, from: 1, to: 0,
  head: %d}
`
	mean := func(head int) float64 {
		c := caseOf(t, fmt.Sprintf(text, head))
		p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		for _, l := range p.Stats.Latency {
			if l.Measure == "answer" {
				return l.Mean
			}
		}
		t.Fatal("no latency")
		return 0
	}
	require.InDelta(t, 100_000, mean(128)-mean(0), 40_000, "ps")
	require.InDelta(t, mean(0), mean(512), 1, "all of it")
}

// TestDepthOverUDP checks that flows have as many requests under way as their depth, which need not be a power of two.
func TestDepthOverUDP(t *testing.T) {
	for _, kind := range []string{"echo", "kv"} {
		c := caseOf(t, strings.TrimPrefix(ceioText("ddio", "", "kind: "+kind+", depth: 3, count: 50"),
			"name: f\ndescription: d\n"))
		most := 0
		p, err := c.Play(t.Context(), Options{Step: func(underWay int) { most = max(most, underWay) }})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		require.Equal(t, 3, most, kind)
	}
}
