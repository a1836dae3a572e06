package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
)

// A flow may have as many messages under way as its workload says, and its window grows by a packet, however short its
// messages are.
func TestFlowsKeepTheirDepth(t *testing.T) {
	w := &workload.Spec{}
	w.Kind, w.Sizes, w.Depth = apps.Echo, []int{100}, 512
	s := rpcSpec(&line{flow: &flow{spec: w}})
	require.NoError(t, s.Validate())
	require.Equal(t, []int{100, 512}, []int{s.Segment, s.Messages})
	require.EqualValues(t, 100, s.DCTCP.Segment)
	w.Sizes, w.Depth = []int{8000}, 4
	s = rpcSpec(&line{flow: &flow{spec: w}})
	require.Equal(t, 64, s.Messages)
	require.EqualValues(t, 8000, s.DCTCP.Segment)
}
