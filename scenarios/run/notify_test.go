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
