package nicspec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildReportsEveryError(t *testing.T) {
	require.NoError(t, DefaultBuild().Validate())
	err := Build{Parts: PartsAll + 1}.Validate()
	for _, want := range []string{
		"ports 0: want", "num_rxq 0: want", "num_txq 0: want", "num_keys 0: want", "num_rules 0: want",
		"parts 16384: want", "eth_bits 0: want",
		"tlp_bits 0: want",
	} {
		require.ErrorContains(t, err, want)
	}
}
