package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// tally counts what schedules have provoked, so that the test can check that every situation occurred.
type tally struct {
	schedules, faults int
	flips             [2]int
	stats             Stats
	statuses          map[verbs.Status]int
	sum               uint32
}

func (x *tally) add(r *rig) {
	x.schedules++
	x.faults += len(r.faults)
	x.flips[0], x.flips[1] = x.flips[0]+r.flips[0], x.flips[1]+r.flips[1]
	if x.statuses == nil {
		x.statuses = map[verbs.Status]int{}
	}
	for _, e := range r.ends {
		x.count(e.conn.Stats())
		for _, c := range append(e.sends, e.recvs...) {
			x.statuses[c.Status]++
		}
	}
	x.sum += r.sum
}

func (x *tally) count(s Stats) {
	t := &x.stats
	t.Sent += s.Sent
	t.Resent += s.Resent
	t.Acks += s.Acks
	t.SequenceNAKs += s.SequenceNAKs
	t.RNRs += s.RNRs
	t.Duplicates += s.Duplicates
	t.Early += s.Early
	t.Kept += s.Kept
	t.Ignored += s.Ignored
	t.Timeouts += s.Timeouts
	t.CNPs += s.CNPs
}

func (x *tally) join(y *tally) {
	x.schedules += y.schedules
	x.faults += y.faults
	x.flips[0], x.flips[1] = x.flips[0]+y.flips[0], x.flips[1]+y.flips[1]
	x.sum += y.sum
	x.count(y.stats)
	if x.statuses == nil {
		x.statuses = map[verbs.Status]int{}
	}
	for s, n := range y.statuses {
		x.statuses[s] += n
	}
}

// require fails the test if a situation hardly occurred.
func (x *tally) require(t *testing.T) {
	t.Logf("%d schedules, %d faults, %d bits flipped, %d of them where no checksum is, %+v, %v", x.schedules, x.faults,
		x.flips[0], x.flips[1], x.stats, x.statuses)
	least := uint64(x.schedules / 50)
	for _, n := range []uint64{x.stats.Sent, x.stats.Resent, x.stats.Acks, x.stats.SequenceNAKs, x.stats.RNRs,
		x.stats.Duplicates, x.stats.Early,
		x.stats.Kept, x.stats.Timeouts, x.stats.CNPs, uint64(x.faults), uint64(x.flips[0]), uint64(x.flips[1])} {
		require.Greater(t, n, least, "something hardly happens")
	}
	for _, s := range []verbs.Status{verbs.WCSuccess, verbs.WCFlushErr, verbs.WCRetryExcErr, verbs.WCRNRRetryExcErr,
		verbs.WCRemInvReqErr,
		verbs.WCRemAccessErr, verbs.WCLocLenErr} {
		require.Positive(t, x.statuses[s], "%v", s)
	}
}
