package apps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// script is a queue pair that accepts every request; its completion queue returns the completions that a test lists.
type script struct {
	verbs.QP
	verbs.CQ
	posted int
	next   []verbs.WC
}

func (s *script) PostSend(wrs []verbs.SendWR) (int, error) {
	s.posted += len(wrs)
	return len(wrs), nil
}

func (s *script) Poll(wcs []verbs.WC) (int, error) {
	n := copy(wcs, s.next)
	s.next = s.next[n:]
	return n, nil
}

// TestAnErrorEndsTheSameRequestsAtAnyTime checks that after an error a client posts as many requests as the completions
// before it allow, whether these are polled together or one by one: their number must not depend on timing.
func TestAnErrorEndsTheSameRequestsAtAnyTime(t *testing.T) {
	spec := DefaultSpec()
	spec.Kind, spec.Inline, spec.Depth, spec.Batch, spec.SignalEvery = Send, true, 6, 1, 1
	spec.Count, spec.Sizes = 40, []int{16}
	wcs := []verbs.WC{{ID: 0, Opcode: verbs.WCSend}, {ID: 1, Opcode: verbs.WCSend},
		{ID: 2, Status: verbs.WCRemAccessErr}, {ID: 3, Status: verbs.WCFlushErr}}
	for together := range len(wcs) + 1 { // number of completions in the first poll; later ones return one each
		q := &script{}
		s := &side{run: &Run{spec: &spec}, cq: q}
		c := &client{end: &end{spec: &spec, total: spec.Count, side: s, qp: q, client: true,
			wrs: make([]verbs.SendWR, 1), inline: [][]byte{make([]byte, 16)}}}
		c.role, s.ends, s.byQPN = c, []*end{c.end}, map[uint32]*end{0: c.end}
		c.advance()
		require.Equal(t, 6, q.posted)
		q.next = append(q.next, wcs[:together]...)
		s.poll()
		for _, wc := range wcs[together:] {
			q.next = append(q.next, wc)
			s.poll()
		}
		require.Equal(t, 8, q.posted, together)
		require.True(t, c.stopped)
		require.Nil(t, c.firstFault)
		require.Equal(t, 4, c.acked)
	}
}

// lone is a context that shares nothing with others.
type lone struct{ verbs.Context }

// TestLoneContextsAreRefused checks that a device whose contexts cannot share a receive queue is refused by the field
// that wants one for the whole server.
func TestLoneContextsAreRefused(t *testing.T) {
	spec := DefaultSpec()
	spec.SharedReceive, spec.SharedReceiveBy = true, SharedByServer
	u := &setup{Run: &Run{spec: &spec}}
	s := &side{Side: Side{Name: "A", Context: lone{}}, run: u.Run, arena: arena{end: 1 << 20}}
	s.ends, u.sides = []*end{{spec: &spec, side: s}}, []*side{s}
	err := u.shareReceives(s)
	require.ErrorIs(t, err, verbs.EOPNOTSUPP)
	require.ErrorContains(t, err, "shared_receive_by: EOPNOTSUPP: server: server A: applications on this device "+
		"cannot share a receive queue: want application")
}
