package nicspec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildReportsEveryError(t *testing.T) {
	require.NoError(t, DefaultBuild().Validate())
	err := Build{Parts: PartsAll + 1}.Validate()
	for _, field := range []string{"ports", "num_rxq", "num_txq", "num_keys", "num_rules", "parts", "eth_bits", "tlp_bits"} {
		require.ErrorContains(t, err, field+" is ")
	}
}
