package shring

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/baseline/shring/ring"
	"nictwin/stack/hostnet"
)

func TestSpec(t *testing.T) {
	s := DefaultSpec()
	require.NoError(t, s.Validate())
	require.Equal(t, 12, s.Log())
	for _, n := range []int{0, 2, 100, 1 << 16} {
		require.ErrorContains(t, (&Spec{Descriptors: n}).Validate(), "want a power of two, 4 to 32768")
	}
	_, err := New(Spec{Descriptors: 64, ScanCycles: -1})
	require.ErrorContains(t, err, "shring: scan_cycles -1: want 0 to 1048576")
}

// TestOpenErrors checks that flows which cannot share a ring are refused before anything is taken from the NIC.
func TestOpenErrors(t *testing.T) {
	s, err := New(DefaultSpec())
	require.NoError(t, err)
	_, err = s.Open(hostnet.PathConfig{Buffers: hostnet.Buffers{Log: 10}})
	require.EqualError(t, err, "shring: 1024 receive buffers: want 4096, the descriptors of the ring")
	_, err = s.Open(hostnet.PathConfig{Buffers: hostnet.Buffers{Log: 12, Split: 40}})
	require.ErrorContains(t, err, "split frames: want whole ones")
	require.Zero(t, s.Held())
}

// TestIdle checks that a flow is not idle while its core has not passed an entry, which may be of the flow.
func TestIdle(t *testing.T) {
	s := &Server{ring: ring.New(4)}
	k := &hostCore{s: s, number: s.ring.Join()}
	p := &path{s: s, core: k}
	_, err := s.ring.Arrived(s.ring.Post())
	require.NoError(t, err)
	require.False(t, p.Idle())
	s.ring.Pass(k.number)
	require.True(t, p.Idle())
}
