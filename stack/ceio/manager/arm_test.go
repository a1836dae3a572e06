package manager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArmDescriptors checks what controller `arm` announces: a descriptor for each credit that is not in use and, when
// the credits are nearly used up, for the most packets that came between two polls. Packets that software has not seen
// use credits; hits of frames that the NIC dropped do not.
func TestArmDescriptors(t *testing.T) {
	w := opened(t, 16, 1, func(s *Spec) { s.Controller, s.FastSlots = ControlArm, 64 })
	needs := func(rule uint64, want int) {
		t.Helper()
		w.m.Polled(0, rule)
		require.Equal(t, want, w.m.NeedsDescriptors(0))
	}
	w.receiveAll(t, 0) // resumes
	needs(0, 64)       // nothing is known of the rate
	for range 400 {
		w.m.Polled(0, 0)
	}
	needs(0, 16)
	needs(5, 16)
	needs(10, 16)
	needs(13, 16+4) // it decays
	w.m.AllSeen(0)  // they were dropped
	needs(13, 16)
	w.frames(0, 9)
	needs(22, 16-9+9)
	require.NoError(t, w.m.Err())
	needs(32, 0) // directed to the slow ring
}

// TestArmFramesUnderWay checks that hits of frames on their way to host memory count as packets, until a further poll
// has shown that they were dropped.
func TestArmFramesUnderWay(t *testing.T) {
	w := opened(t, 16, 1, func(s *Spec) { s.Controller, s.FastSlots = ControlArm, 64 })
	w.receiveAll(t, 0)
	for range 400 {
		w.m.Polled(0, 0)
	}
	for _, rest := range []int{14, 0} {
		w.m.Polled(0, 14)
		w.m.AllSeen(0)
		require.Equal(t, rest, w.m.inUse(&w.m.flows[0]))
	}
}
