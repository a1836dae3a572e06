package pair

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/heartbeat"
)

// phases decides when traffic begins and when it has ended. Both processes evaluate the states of both servers at the
// end of each round, and so come to the same decision.
type phases struct {
	round        simcore.Ps
	patience     simcore.Ps // longest time without progress
	done         uint64     // number of finished rounds
	phase        phase
	lastProgress uint64 // sum of both servers' progress
	since        uint64 // rounds since lastProgress last grew
}

// ahead is the number of quanta in a round, and by how many quanta a server may run ahead of the messages that it has
// read: what leaves in a quantum arrives at least a round later. A smaller number would smooth out uneven load less; a
// larger one costs more messages.
const ahead = 3

type phase int

const (
	phaseSetUp phase = iota // until both NICs receive
	phaseTraffic
	phaseCounters // counters are being read
	phaseOver
	phaseStuck
)

// patience bounds the time without progress: what a frame and its TLPs take on cards and cable, at least 2 ms.
func (o *Options) patience() simcore.Ps {
	const least = 2 * simcore.Millisecond
	took := simcore.Ps(0)
	for i := range o.Rack.Servers {
		c := &o.Rack.Servers[i].Cards[0]
		w, _ := c.Waits() // its error was already reported by newServer
		took += w.Turn + board.CableTime(c.Eth) + o.Rack.Network.Latency
	}
	return max(least, took)
}

// end returns the time at which the current round ends.
func (c *phases) end() simcore.Ps { return simcore.Ps(c.done+1) * c.round }

// quantumEnd returns the end of quantum q. A round has as many quanta as constant `ahead` says, so quantum q + `ahead`
// ends exactly one round later.
func (c *phases) quantumEnd(q uint64) simcore.Ps {
	rounds, rest := simcore.Ps((q+1)/ahead), simcore.Ps((q+1)%ahead)
	return rounds*c.round + rest*c.round/ahead
}

// settled reports whether this server's state alone keeps the phase from changing at the end of the current round, so
// that the other server's state need not be known.
func (c *phases) settled(mine state) bool {
	if simcore.Ps(c.since+1)*c.round > c.patience {
		return false
	}
	switch c.phase {
	case phaseSetUp:
		return !mine.ready
	case phaseTraffic:
		return !mine.played
	case phaseCounters:
		return !mine.counted
	}
	return false
}

// step evaluates the states of both servers at the end of a round, and reports whether a new phase begins.
func (c *phases) step(a, b state) bool {
	c.done++
	if n := a.progress + b.progress; n != c.lastProgress {
		c.lastProgress, c.since = n, 0
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
	case simcore.Ps(c.since)*c.round > c.patience:
		c.phase = phaseStuck
		return true
	}
	return false
}

func (p phase) String() string {
	return [...]string{phaseSetUp: "setting up", phaseTraffic: "playing frames", phaseCounters: "reading counters",
		phaseOver: "finishing", phaseStuck: "finishing"}[p]
}

// steps is the number of steps of a frame that state.progress counts: it is posted, its entry ends, it is received.
const steps = 3

// tell reports the progress of both servers, if a heartbeat wants it. mine is the server of this process, or the first.
func (c *phases) tell(b *heartbeat.Beat, o *Options, mine *server) {
	if !b.Wants() {
		return
	}
	b.Count(int(c.lastProgress/steps), 2*o.Count)
	s := heartbeat.Status{Doing: c.phase.String(), Mark: c.lastProgress,
		Cycle: int64(simcore.Ps(c.done) * c.round / mine.card.NIC.Period())}
	if n := mine.posted - mine.ended; n > 0 {
		s.Busy = fmt.Sprintf("%d frames of %s", n, mine.name)
	}
	b.Report(s)
}

// ending returns how the run ended, for the referee.
func (c *phases) ending() judge.Ending {
	if c.phase == phaseStuck {
		return judge.Stopped
	}
	return judge.Whole
}
