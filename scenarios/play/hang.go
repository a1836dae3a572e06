package play

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// Limits of a run in which streams move but nothing that is due happens, as multiples of the manifest's patience.
const (
	mostCycles = 200
	mostGiven  = 1000 // while a reference gives transactions
	mostMoves  = 10   // transactions
	leastMoves = 100_000
)

// motion tracks when streams moved, for the limits that end a run. Levels do not count.
type motion struct {
	moved  uint64   // latest cycle in which a stream moved
	judged uint64   // latest cycle in which a stream moved that the check covers
	since  uint64   // cycle since which nothing is due
	ended  []uint64 // transactions of each stream
	by     []uint64 // value of ended at the cycle since which nothing is due
	// A device may ask, and a reference may answer, without end. Useful moves are those that a run has a limited
	// number of: of drawn transactions, and of outputs that give something for each of them.
	useful uint64   // cycle of the latest one
	before []uint64 // value of ended at that time
}

// newMotion tracks n streams.
func newMotion(n int) motion {
	return motion{ended: make([]uint64, n), by: make([]uint64, n), before: make([]uint64, n)}
}

// waits records that a transaction is waited for from a cycle on.
func (m *motion) waits(cycle uint64, useful bool) {
	m.moved, m.judged = max(m.moved, cycle), max(m.judged, cycle)
	if useful {
		m.use(cycle)
	}
}

// use records a useful move.
func (m *motion) use(cycle uint64) {
	m.useful = max(m.useful, cycle)
	copy(m.before, m.ended)
}

// idle counts the transactions since the latest useful one.
func (m *motion) idle() (n uint64) {
	for i, e := range m.ended {
		n += e - m.before[i]
	}
	return n
}

// moves records a move of a stream: whether a transaction ended, whether the check covers the stream, and whether the
// move is useful.
func (p *played) moves(stream int, cycle uint64, end, judged, useful bool) {
	p.moved = max(p.moved, cycle)
	if judged {
		p.judged = max(p.judged, cycle)
	}
	delete(p.fair.starved, stream)
	if end {
		p.ended[stream]++
		p.fair.add(stream, cycle)
		p.unfair(cycle)
	}
	if useful {
		p.use(cycle)
	}
}

// finish ends the run if it is over and fails it if it hangs.
func (p *played) finish() (ended bool, err error) {
	over := !p.waiting() && p.p.Over()
	if !over {
		p.since = p.Cycles
		copy(p.by, p.ended)
	}
	within := fmt.Sprintf("%d cycles (play.patience and the stalls of the run)", p.patience)
	switch asked, settle := p.asked(), p.settle(); {
	case over && len(asked) == 0 && p.Cycles >= max(p.since, p.judged)+settle:
		p.p.Finish(p.Cycles)
		return true, nil
	case over && p.Cycles >= p.since+p.patience+settle: // it asks or gives without end
		if !slices.ContainsFunc(asked, func(i int) bool { return p.ended[i] == p.by[i] }) {
			p.p.Finish(p.Cycles)
			return true, nil
		}
		p.hangs(p.by, " within "+within, "nothing in "+within)
	case (!over || len(asked) > 0) && p.Cycles > p.moved+p.patience:
		p.hangs(p.ended, " within "+within, "nothing in "+within)
	case !over && p.p.Over() && p.gives() && p.Cycles > p.useful+mostGiven*p.patience:
		return false, p.mistake("it still gives transactions after %d cycles: want a run that comes to its end",
			p.Cycles)
	case !over && p.endless():
		n := p.Cycles - p.useful
		p.hangs(p.before, fmt.Sprintf(" within %d cycles", n), fmt.Sprintf("nothing in %d cycles", n))
	}
	return p.p.Failed() != nil, nil
}

// gives reports whether a user's reference keeps giving transactions.
func (p *played) gives() bool { return p.referenced() && p.gaveAt+p.patience > p.Cycles }

// endless reports whether streams have moved too long without use. A reference that gives has its own limits, as long
// as nothing else is due.
func (p *played) endless() bool {
	patience := uint64(p.Spec.Patience)
	if p.gives() {
		return !p.p.Over() && p.Cycles > p.useful+mostGiven*p.patience
	}
	return p.Cycles > p.useful+mostCycles*patience+p.patience || p.idle() > max(leastMoves, mostMoves*patience)
}

// asked returns the inputs that answer the device's requests to a memory.
func (p *played) asked() (list []int) {
	for i, s := range p.streams {
		if p.queues[i].left() && p.p.Plays(s.Name) {
			list = append(list, i)
		}
	}
	return list
}

// wait returns the time in which a stream must move: the manifest's patience, plus what stalls may take, plus what
// the longest transaction or burst takes if the most stalled input and the most stalled output rarely move in the
// same cycle.
func (p *played) wait(m *mood) uint64 {
	beats, in, out := max(1, p.p.Longest()), 0, 0
	var pauses [2]uint64 // of inputs and of outputs
	for i, s := range p.streams {
		if !s.In {
			out = max(out, m.stall[i])
			pauses[1] = max(pauses[1], longestPause(m.stall[i], m.burst[i]))
			continue
		}
		in = max(in, m.stall[i])
		pauses[0] = max(pauses[0], longestPause(m.stall[i], m.burst[i]))
		for _, x := range p.queues[i].drawn {
			beats = max(beats, len(x.data)/max(1, s.Beat))
		}
	}
	return uint64(p.Spec.Patience) + pauses[0] + pauses[1] + uint64(4*beats)*10_000/uint64((100-in)*(100-out))
}

// longestPause returns how many cycles a stream may pause without interruption: with bursts of 2^burst cycles, longer
// is practically impossible.
func longestPause(percent, burst int) (cycles uint64) {
	const impossible = 1e-12
	for chance := 1.0; percent > 0 && chance > impossible; cycles += 1 << burst {
		chance *= float64(percent) / 100
	}
	return cycles
}

// settle returns how long nothing may happen before a run is over: if transactions that may be dropped are missing,
// and no counter of the device accounts for them, they may still be on their way through stalls.
func (p *played) settle() uint64 {
	counted, _ := p.Observed(p.Spec.Drops.Counted)
	if n := p.p.Missing(); n > 0 && (p.Spec.Drops.Counted == "" || counted != uint64(n)) {
		return p.patience
	}
	return uint64(p.Spec.Settle)
}

// hangs fails a run that makes no progress. from is the value of ended since which nothing that is due has moved;
// within is the time that the device has for a beat, and silence describes what came of the outputs. An input that is
// not taken says more than a missing output.
func (p *played) hangs(from []uint64, within, silence string) {
	var moved []string
	for i, s := range p.streams {
		if n := p.ended[i] - from[i]; n > 0 {
			moved = append(moved, fmt.Sprintf("%d of %s", n, s.Name))
		}
	}
	detail := ""
	if len(moved) > 0 {
		detail = "meanwhile these moved: " + strings.Join(moved, ", ")
	}
	for i, s := range p.streams {
		if s.Kind == ref.Level || !p.queues[i].left() || p.ended[i] > from[i] {
			continue
		}
		x := slices.Concat(p.queues[i].under, p.queues[i].answers, p.queues[i].drawn)[0]
		p.p.Fail(ref.Failure{
			Stream: s.Name, N: p.next[i], Cycle: p.Cycles, Field: fieldRule,
			Expected: "the offered beat to be taken" + within, Got: protocol.RuleHangIn.String() + p.forgotten(),
			Detail: strings.TrimSuffix("offered: "+s.Text(x.side, x.data)+"\n  "+detail, "\n  "),
		})
		return
	}
	p.p.Stuck(p.Cycles, silence+p.forgotten())
	p.p.Fail(ref.Failure{Cycle: p.Cycles, Field: "the run", Expected: "to come to its end",
		Got: silence + p.forgotten()})
	if f := p.p.Failed(); f.Detail == "" {
		f.Detail = detail
	}
}
