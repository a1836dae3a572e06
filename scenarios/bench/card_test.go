package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// TestCardLoad checks that the load does what its figures describe, and repeats exactly: it sends a frame for every
// frame received, drops nothing, and uses caches and DRAM.
func TestCardLoad(t *testing.T) {
	var before []uint64
	for range 2 {
		l, err := newCardLoad(loadPreset, loadQueues, 3, 0)
		require.NoError(t, err)
		require.NoError(t, l.run(2000))
		require.InDelta(t, l.received, l.sent, 2*loadQueues)
		require.Less(t, l.underWay(), 16)
		require.Greater(t, l.tlps(), uint64(2000*loadFrame/512), "every read and write is a TLP")
		require.NotZero(t, l.bed.Memory.DRAM(nicspec.EndpointHost).Counters().Writes)
		_, dirty := l.bed.Memory.Cache(nicspec.EndpointHost).Resident()
		require.NotZero(t, dirty)
		got := []uint64{l.tlps(), uint64(l.received), uint64(l.bed.Engine.Now())}
		if before != nil {
			require.Equal(t, before, got)
		}
		before = got
		require.NoError(t, l.close())
	}
}

func TestVerbsLoad(t *testing.T) {
	for _, qps := range []int{1, 1024} {
		l, err := newVerbsLoad(verbsPreset, qps)
		require.NoError(t, err)
		require.NoError(t, l.run(2000))
		require.Len(t, l.qps, qps)
		require.Equal(t, l.posted-verbsWindow, l.ended)
		require.NoError(t, l.close())
	}
}

// TestCardMemory checks that a whole card allocates nothing in steady state, and that a packet in flight takes little
// more memory than its bytes.
func TestCardMemory(t *testing.T) {
	s := &session{Options: tiny(t)}
	for _, take := range []func(*session) ([]Result, error){cardAllocations, packetMemory} {
		all, err := take(s)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.True(t, all[0].OK, "%+v", all[0])
	}
}

func TestFlatness(t *testing.T) {
	r := flatness("x", 110, 100, "")
	require.True(t, r.OK)
	require.False(t, flatness("x", 100, 111, "").OK)
	require.InDelta(t, 1.1, r.Value, 1e-9)
}
