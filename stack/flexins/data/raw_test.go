package data

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// taker is a pipe that takes every line and counts them.
type taker struct {
	pipe.Sender
	n int
}

func (p *taker) Push([]byte) error {
	p.n++
	return nil
}

// TestRawCopiesEnd checks what the end of a received frame's copies does: a failure moves the queue pair to ERR, once,
// if the completion was posted before, and otherwise is the status of the completion. After a RESET it does nothing.
func TestRawCopiesEnd(t *testing.T) {
	for _, c := range []struct {
		state       verbs.State
		posted      bool // the completion was, together with the copies
		status      verbs.Status
		completions int
		events      int
		after       verbs.State
	}{
		{verbs.QPSRTR, false, verbs.WCSuccess, 1, 0, verbs.QPSRTR},
		{verbs.QPSRTR, true, verbs.WCSuccess, 0, 0, verbs.QPSRTR},
		{verbs.QPSRTS, false, verbs.WCGeneralErr, 1, 0, verbs.QPSRTS},
		{verbs.QPSRTS, true, verbs.WCGeneralErr, 0, 1, verbs.QPSErr},
		{verbs.QPSErr, true, verbs.WCGeneralErr, 0, 0, verbs.QPSErr},
		{verbs.QPSErr, false, verbs.WCSuccess, 1, 0, verbs.QPSErr},
		{verbs.QPSReset, true, verbs.WCGeneralErr, 0, 0, verbs.QPSReset},
		{verbs.QPSReset, false, verbs.WCSuccess, 0, 0, verbs.QPSReset},
	} {
		b, to, events := newShareBench(t), &taker{}, 0
		b.c.card = &Card{async: func(a Async) {
			require.Equal(t, transport.EventQPFatal, a.Event)
			events++
		}}
		r := newRaw(&qp{core: b.c, recv: &cq{c: b.c, pipe: to}})
		r.state = c.state
		b.run(func() { r.ended(&transport.Completion{Recv: true, Status: c.status}, c.posted) })
		require.Equal(t, c.after, r.state, "%+v", c)
		require.Equal(t, []int{c.completions, c.events}, []int{to.n, events}, "%+v", c)
	}
}
