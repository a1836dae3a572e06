package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A stack that fails with the expected text passes; everything before the failure is checked as usual.
func TestFailure(t *testing.T) {
	const stack = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 1}}]\nworkload: " +
		"{count: 9, depth: 1, sizes: [64]}\n"
	const fault = "faults: {pcie: [{server: 0, of: buffers, kind: CA, skip: 5, count: 1}]}\n"
	for _, x := range []struct{ text, found string }{
		{stack + fault + "expect: {failure: status CplAbort}", ""},
		{stack + fault, "a frame ended with status CplAbort"},
		{stack + fault + "expect: {failure: status CplPoison}", "a frame ended with status CplAbort"},
		{stack + "expect: {failure: status CplAbort}",
			`expect.failure: error of a stack: expected "status CplAbort", got none`},
	} {
		p, err := caseOf(t, x.text).Play(t.Context(), Options{})
		require.NoError(t, err)
		if x.found != "" {
			require.Contains(t, texts(p), x.found)
			continue
		}
		require.True(t, p.Pass(), texts(p))
		require.Equal(t, 5, p.Result.Messages)
		for _, n := range p.NICs {
			require.NotZero(t, n.Checked)
		}
	}
}
