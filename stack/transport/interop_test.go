package transport

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// interopSchedule draws a schedule that models/rnic supports (go-back-N, no SQD); hw is the side that it plays.
func interopSchedule(seed uint64) (s schedule, hw int) {
	s = drawSchedule(seed)
	if s.recovery == SelectiveRepeat {
		s.recovery, s.window = GoBackN, draw(&s, 200, 1, 8, 64, 512)
	}
	hw = draw(&s, 201, 0, 1)
	if hw == 0 {
		s.pause = 0
	}
	if s.refuse == refuseInvKey { // models/rnic has no SEND with invalidate whose key it could refuse
		s.refuse = refuseKey
	}
	return s, hw
}

// forHardware replaces requests that the hardware (models/rnic) does not support.
func forHardware(p *plan) {
	for _, m := range p.messages {
		switch m.Op {
		case verbs.WRSendInv:
			m.Op, m.Imm = verbs.WRSend, 0
		case verbs.WRLocalInv, verbs.WRNop:
			m.Op, m.RKey, m.Imm, m.overwritten = verbs.WRWrite, 7, 0, true // a WRITE of 0 bytes
		}
	}
}

// playInterop plays a schedule with models/rnic on one side, and judges it.
func playInterop(seed uint64, spared map[fault]bool, trace func(string, ...any)) (*rig, error) {
	s, hw := interopSchedule(seed)
	r, plans, err := rigOf(s, spared, trace, func(e *end) (Conn, error) {
		if int(e.side) == hw {
			return newHardware(e, RC, uint32(100+hw)), nil
		}
		return s.conn(e)
	}, func(side int, p *plan) {
		if side == hw {
			forHardware(p)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, e := range r.ends {
		e.complete = func(c *Completion) { r.onCompletion(e, plans[i], plans[1-i], c) }
	}
	r.play()
	if r.failure == nil {
		for i, e := range r.ends {
			r.judge(e, plans[i], plans[1-i])
		}
	}
	return r, r.failure
}

// TestInteropSchedules runs the hardware transport of models/rnic as the other end, as requester and as responder, over
// a network with faults. Each message must arrive exactly once, in order and intact, or the connection must end as the
// standard says.
func TestInteropSchedules(t *testing.T) {
	if *onlySeed != 0 {
		_, err := playInterop(*onlySeed, nil, t.Logf)
		require.NoError(t, err)
		return
	}
	n := runs(t) / 2
	var wg sync.WaitGroup
	var mu sync.Mutex
	var total tally
	workers := uint64(runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			var mine tally
			for seed := w + 1; seed <= n && !t.Failed(); seed += workers {
				r, err := playInterop(seed, nil, nil)
				if err != nil {
					s, hw := interopSchedule(seed)
					t.Errorf("seed %d (-schedule %d replays it), hardware on side %d: %v\n%v", seed, seed, hw, err, &s)
				} else {
					mine.add(r)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.join(&mine)
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d schedules, %d faults, %+v, %v", total.schedules, total.faults, total.stats, total.statuses)
	x := total.stats
	for _, n := range []uint64{x.Resent, x.SequenceNAKs, x.RNRs, x.Duplicates, x.Early, x.Timeouts,
		uint64(total.faults)} {
		require.Greater(t, n, uint64(total.schedules/50), "something hardly happens")
	}
	for _, s := range []verbs.Status{verbs.WCSuccess, verbs.WCFlushErr, verbs.WCRetryExcErr, verbs.WCRNRRetryExcErr,
		verbs.WCRemInvReqErr,
		verbs.WCRemAccessErr, verbs.WCLocLenErr} {
		require.Positive(t, total.statuses[s], "%v", s)
	}
}
