package run

import (
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
		"kind: echo, answer: 64": "f.yaml:5: workload.answer: over rc answers are as long as requests: want none, or " +
			"workload.transport udp",
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
