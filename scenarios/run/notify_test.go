package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// The results do not depend on the way in which the card learns of requests, and the card uses the way that the file
// selects.
func TestNotify(t *testing.T) {
	list, err := Parse("test.yaml", []byte("name: test\ndescription: a test\nboard: {preset: "+
		"bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 1}}]\n"+
		"workload: {count: 6, depth: 6}\nsweep: {notify: [pipe, doorbell_pushed, doorbell_polled, mmio]}"))
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
	require.Greater(t, pushed.Traffic, pipe.Traffic, "a fetch more")
	require.Greater(t, polled.NICs[0].Checked, 2*pipe.NICs[0].Checked, "records that are read")
	require.GreaterOrEqual(t, mmio.Traffic, 6*simcore.Millisecond, "six register writes of a millisecond")
	require.Less(t, polled.Traffic, simcore.Millisecond)
}
