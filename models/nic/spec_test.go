package nic

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpecReportsEveryError(t *testing.T) {
	require.NoError(t, DefaultSpec().Validate())
	err := Spec{}.Validate()
	for _, field := range []string{"num_rxq", "timing.tags", "timing.rx_prefetch", "timing.tx_prefetch",
		"timing.copy_jobs"} {
		require.ErrorContains(t, err, field+" 0: want ")
	}
}
