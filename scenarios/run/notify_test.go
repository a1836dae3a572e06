package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// TestNotify checks that results do not depend on how the card is notified of requests, and that the card uses the
// notification that the file selects.
func TestNotify(t *testing.T) {
	list, err := Parse("test.yaml", []byte(`
name: test
description: a test
board: {preset: bf3-cores-pair}
stacks: [{kind: flexins, flexins: {data_cores: 1}}]
workload: {count: 6, depth: 6}
sweep: {notify: [pipe, doorbell_pushed, doorbell_polled, mmio]}
`))
	require.NoError(t, err)
	var all []*Played
	for _, c := range list {
		p, err := c.Play(t.Context(), Options{})
		require.NoError(t, err)
		require.True(t, p.Pass(), "%s: %s", c.Name, texts(p))
		require.Equal(t, 6, p.Result.Messages)
		all = append(all, p)
		require.Equal(t, all[0].Digest, p.Digest, c.Name)
	}
	pipe, pushed, polled, mmio := all[0], all[1], all[2], all[3]
	require.Greater(t, pushed.Traffic, pipe.Traffic,
		"doorbell_pushed: each entry is fetched after its doorbell, which takes longer than the pipe")
	require.Greater(t, polled.NICs[0].Checked, 2*pipe.NICs[0].Checked,
		"doorbell_polled: polling reads records all the time, which at least doubles the crossings")
	require.GreaterOrEqual(t, mmio.Traffic, 5*simcore.Millisecond, "each of six register writes waits a millisecond "+
		"for the one before")
	require.Less(t, polled.Traffic, simcore.Millisecond)
}

// NOPs complete when the card has taken them, and no packet leaves: without packets there are no latencies to the wire.
func TestNops(t *testing.T) {
	const head = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\n"
	c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: nop, sizes: [0], count: 40, signal_every: 4}\n"+
		"expect: {max: {below: 30us}, p50: {below: 4us, to: take}}")
	p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Equal(t, 40, p.Result.Messages)
	require.Len(t, p.Stats.Latency, 2)
	take, end := p.Stats.Latency[0], p.Stats.Latency[1]
	require.Equal(t, []string{"take", "completion"}, []string{take.Measure, end.Measure})
	require.EqualValues(t, []int64{40, 40}, []int64{take.Count, end.Count})
	require.Greater(t, end.Mean, take.Mean+5e5, "a completion takes a DMA")
	for _, c := range []struct{ text, want string }{
		{"stacks: [{kind: flexins}, {kind: rnic}]\nworkload: {kind: nop, sizes: [0]}",
			"f.yaml:4: stacks[1].kind rnic: it has no work requests NOP: want flexins, or another workload.kind"},
		{"stacks: [{kind: flexins}]\nworkload: {kind: nop}", "sizes[0] 1024: nop over rc takes 0 to 0 bytes"},
		{"stacks: [{kind: flexins}]\nworkload: {kind: nop, sizes: [0], transport: uc}",
			"f.yaml:5: workload.kind nop: workload.transport uc does not support it"},
		{"stacks: [{kind: flexins}]\nworkload: {kind: nop, sizes: [0], payload: reused}",
			"f.yaml:5: workload.payload: kind nop has no bytes: want fresh"},
		{"stacks: [{kind: flexins}]\nworkload: {kind: nop, sizes: [0]}\nexpect: {p50: {below: 1us, to: wire}}",
			"expect.p50.to \"wire\": messages of kind nop over rc have stamps of completion, take: want one of these"},
		{"stacks: [{kind: flexins}]\nexpect: {p50: {below: 1us, to: take}}",
			"expect.p50.to \"take\": messages of kind send"},
	} {
		_, err := Parse("f.yaml", []byte(head+c.text))
		require.ErrorContains(t, err, c.want)
	}
}
