package split

import (
	"nictwin/models/simcore"
	"nictwin/scenarios/judge"
)

// course decides when traffic begins and when it is over. It looks at both servers at the end of each quantum, the same in both processes.
type course struct {
	quantum simcore.Ps
	done    uint64 // quanta
	phase   phase
	mark    uint64 // progress of both
	since   uint64 // quanta since it last grew
}

type phase int

const (
	phaseSetUp phase = iota // until both NICs receive
	phaseTraffic
	phaseCounters // are being read
	phaseOver
	phaseStuck
)

// patience is how long nothing may happen.
const patience = 2 * simcore.Millisecond

// end is the end of the quantum that is simulated next.
func (c *course) end() simcore.Ps { return simcore.Ps(c.done+1) * c.quantum }

// step takes the states of both servers at the end of a quantum, and reports whether a new phase begins.
func (c *course) step(a, b state) bool {
	c.done++
	if n := a.progress + b.progress; n != c.mark {
		c.mark, c.since = n, 0
	} else {
		c.since++
	}
	switch {
	case c.phase == phaseSetUp && a.ready && b.ready:
		c.phase = phaseTraffic
		c.since = 0
		return true
	case c.phase == phaseTraffic && a.played && b.played:
		c.phase = phaseCounters
		c.since = 0
		return true
	case c.phase == phaseCounters && a.counted && b.counted:
		c.phase = phaseOver
		return true
	case simcore.Ps(c.since)*c.quantum > patience:
		c.phase = phaseStuck
		return true
	}
	return false
}

// ending is how the referee is to take the end.
func (c *course) ending() judge.Ending {
	if c.phase == phaseStuck {
		return judge.Stopped
	}
	return judge.Whole
}
