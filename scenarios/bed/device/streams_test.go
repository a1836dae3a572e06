package device

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/protocol"

	"nictwin/scenarios/observe/result"
)

// TestStreamViolationsAreFindings checks that every stream rule that the harness checks maps to a rule of the contract,
// for Ethernet and for TLPs.
func TestStreamViolationsAreFindings(t *testing.T) {
	for rule := protocol.RuleValidDropped; rule <= protocol.RulePadding; rule++ {
		eth := result.OfError(fmt.Errorf("run: %w", &StreamError{"m_axis_eth", 1, 812, rule, 0}))
		require.Regexp(t, `^[A-Z]\d+$`, eth.Rule)
		require.Equal(t, []any{result.Streams, "m_axis_eth", int64(812), 1, rule.String()},
			[]any{eth.Domain, eth.Stream, *eth.Cycle, *eth.Port, eth.Got})
		require.NotEmpty(t, eth.Field)
		require.NotEmpty(t, eth.Expected)
		tlp := (&StreamError{"m_axis_tlp", -1, 812, rule, 0}).Finding()
		require.Regexp(t, `^[A-Z]\d+$`, tlp.Rule)
		require.NotEqual(t, "tuser", tlp.Field)
		require.Nil(t, tlp.Port)
	}
	require.Len(t, streamRules, int(protocol.RulePadding))
	err := error(&StreamError{"m_axis_tlp", -1, 7, protocol.RuleDataChanged, 2})
	require.EqualError(t, err, "stream m_axis_tlp, cycle 7: tdata changed while stalled (and 2 more)")
	require.Equal(t, err.Error(), result.OfError(errors.Join(err)).Text)
}
