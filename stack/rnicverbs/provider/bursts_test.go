package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/verbs"
)

// turns is a bus whose core takes turns when the test says so. Reads counts reads of memory.
type turns struct {
	driver.Bus
	deferred []func()
	reads    int
}

func (b *turns) Defer(f func()) error {
	b.deferred = append(b.deferred, f)
	return nil
}

func (b *turns) Read(addr uint64, p []byte, done func(error)) {
	b.reads++
	b.Bus.Read(addr, p, done)
}

// writes posts n WRITEs to a pair whose first side reads completions one at a time, and returns that side's bus.
func writes(t *testing.T, n int) (*connected, *turns) {
	var buses []*turns
	c, _ := connectOn(t, 16, 8, func(_ *simcore.Engine, b driver.Bus) driver.Bus {
		buses = append(buses, &turns{Bus: b})
		return buses[len(buses)-1]
	})
	for range n {
		_, err := c.qp[0].PostSend([]verbs.SendWR{{Opcode: verbs.WRWrite, Flags: verbs.SendSignaled}})
		require.NoError(t, err)
	}
	require.NoError(t, c.Settle())
	return c, buses[0]
}

// TestOneBurstATurn checks that a completion queue has one burst at most in a turn of its core, however often the NIC
// wrote to its ring.
func TestOneBurstATurn(t *testing.T) {
	c, b := writes(t, 5)
	require.Len(t, b.deferred, 1)
	next := b.deferred[0]
	b.deferred = nil
	next()
	require.Empty(t, b.deferred, "the ring is empty")
	n, err := c.cq[0].Poll(make([]verbs.WC, 8))
	require.NoError(t, err)
	require.Equal(t, 5, n)
}

// TestDestroyedBetweenBursts checks that a completion queue that was destroyed before its next turn leaves the ring
// alone, which another one may have by then.
func TestDestroyedBetweenBursts(t *testing.T) {
	c, b := writes(t, 2)
	require.NotEmpty(t, b.deferred)
	s, destroyed := c.Sides[0].Context, false
	s.DestroyQP(c.qp[0], func(err error) { require.NoError(t, err) })
	require.NoError(t, c.Settle())
	s.DestroyCQ(c.cq[0], func(err error) { require.NoError(t, err); destroyed = true })
	require.NoError(t, c.Settle())
	require.True(t, destroyed)
	before := b.reads
	for _, f := range b.deferred {
		f()
	}
	require.Equal(t, before, b.reads)
}
