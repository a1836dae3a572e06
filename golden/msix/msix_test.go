package msix_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/msix"
	"nictwin/golden/verdict"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
)

func newMessages(t *testing.T) (*msix.Messages, *verdict.Log) {
	t.Helper()
	log := verdict.NewLog("", 20, nil, 1, 4, 4)
	log.At(&boundary.Crossing{})
	return msix.New(log), log
}

// A message falls due when enough entries have left, or enough time has passed, and not before.
func TestDue(t *testing.T) {
	m, log := newMessages(t)
	q := m.Queue(verdict.Rxq(0))
	q.Enable(&core.Vector{Addr: 0x1000, Data: 5, Count: 2, Cycles: 3})
	q.EntryLeft(false, 100)
	c := m.Of(0x1000, 5, 110)
	require.True(t, c.Known())
	require.Nil(t, c.Best(), "one of two entries, and not yet by time")
	m.Refuse(&c, 110, "a write")
	require.Equal(t, "M3", log.List()[0].Rule)
	require.EqualValues(t, 100+3*core.ModUnit, q.DueAt())
	q.EntryLeft(false, 120)
	require.EqualValues(t, 120, q.DueAt())
	c = m.Of(0x1000, 5, 125)
	require.Equal(t, q, c.Best())
	m.Take(&c, 125)
	require.Equal(t, int64(core.Never), q.DueAt())
	m.End()
	require.EqualValues(t, 1, log.Mismatches())
}

// A message with wrong data is reported, by its address [M1].
func TestData(t *testing.T) {
	m, log := newMessages(t)
	q := m.Queue(verdict.Txq(0))
	q.Enable(&core.Vector{Addr: 0x1000, Data: 5})
	q.EntryLeft(false, 1)
	c := m.Of(0x1000, 6, 2)
	require.True(t, c.Known() && c.Best() == nil)
	m.Refuse(&c, 2, "a write")
	require.Equal(t, "M1", log.List()[0].Rule)
	other := m.Of(0x2000, 5, 2)
	require.False(t, other.Known(), "nobody's address")
	m.End()
	require.EqualValues(t, 2, log.Mismatches(), "the message is missing")
}

// Two queues owe the same message. The first message that comes may be of either queue, but two must come in total: one
// for each queue.
func TestSharedMessage(t *testing.T) {
	for _, come := range []int{1, 2} {
		m, log := newMessages(t)
		var qs []*msix.Queue
		for i := range 2 {
			q := m.Queue(verdict.Rxq(i))
			q.Enable(&core.Vector{Addr: 0x1000, Data: 5})
			q.EntryLeft(false, int64(i))
			qs = append(qs, q)
		}
		for range come {
			c := m.Of(0x1000, 5, 10)
			require.Equal(t, qs[0], c.Best(), "the one that had to be first")
			m.Take(&c, 10)
		}
		m.End()
		require.EqualValues(t, 2-come, log.Mismatches())
	}
}

// A queue being disabled must send one message for its unreported entries, and none once it is disabled [M4].
func TestClosing(t *testing.T) {
	m, log := newMessages(t)
	q := m.Queue(verdict.Rxq(1))
	q.Enable(&core.Vector{Addr: 0x1000, Count: 10})
	q.EntryLeft(false, 5)
	require.Equal(t, int64(core.Never), q.DueAt())
	q.Close(50)
	require.EqualValues(t, 50, q.DueAt())
	require.True(t, q.ClosedBy(50) && !q.ClosedBy(49))
	q.Disabled()
	require.Equal(t, "M4", log.List()[0].Rule)
	c := m.Of(0x1000, 0, 60)
	require.False(t, c.Known())
}

// A reset cancels owed messages without a mismatch.
func TestReset(t *testing.T) {
	m, log := newMessages(t)
	q := m.Queue(verdict.Rxq(1))
	q.Enable(&core.Vector{Addr: 0x1000})
	q.EntryLeft(false, 5)
	m.Reset()
	require.EqualValues(t, 1, m.MayBeDue(6), "it may still come")
	m.End()
	require.Zero(t, log.Mismatches())
}
