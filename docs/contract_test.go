package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRule(t *testing.T) {
	require.Equal(t, "`rss_hash` of the completion entry is that hash for every frame, whatever the action.",
		Rule("S2"))
	require.True(t, strings.HasSuffix(Rule("H6"), "opcode, flags, P_Key, destination QP, AckReq, PSN."), Rule("H6"))
	require.Equal(t, 3, strings.Count(Rule("T7"), "\n- "), Rule("T7"))
	require.Empty(t, Rule("Z99"))
	require.Empty(t, Rule(""))
	for _, m := range reRule.FindAllStringSubmatch(contract, -1) {
		require.NotEmpty(t, Rule(m[1]), m[1])
	}
}
