package dram_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// A channel that holds as many writes as it can must make the controller full until some have been
// written. An initiator that waits while it is full, as a root does, must get the memory's full
// write rate.
func TestFullWithWrites(t *testing.T) {
	s := preset(t, "bf2")
	e := simcore.NewEngine()
	d, _ := newDRAM(t, e, s)
	const writes = 4000
	issued, done, most, blocked := 0, 0, 0, false
	issue := func() {
		for !d.Full() && issued < writes {
			a := &mem.Access{Op: mem.Write, Addr: uint64(issued%3)<<20 + uint64(issued)<<6, Data: make([]byte, 64)}
			a.Done = func(*mem.Access) { done++ }
			issued++
			d.Access(a)
			most = max(most, issued-done)
		}
		blocked = issued < writes
	}
	d.OnRoom(func() {
		require.False(t, d.Full())
		issue()
	})
	issue()
	require.True(t, blocked)
	require.Equal(t, s.Buffer+1, int(d.Counters().WriteBursts), "those that it holds, and one on the bus")
	require.NoError(t, e.Run())
	require.Equal(t, writes, done)
	require.LessOrEqual(t, most, s.Buffer)
	require.True(t, d.Idle())
	require.False(t, d.Full())
}
