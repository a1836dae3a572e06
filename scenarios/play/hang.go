package play

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// Limits of a run in which streams move but the transactions that are due do not come: of the cycles and transactions
// since the latest useful move. All but leastMoves are factors of a patience in cycles.
const (
	mostCycles = 200     // limit of cycles, in multiples of the manifest's patience
	mostGiven  = 1000    // limit of cycles while a reference gives transactions, in multiples of the run's patience
	mostMoves  = 10      // limit of transactions for each cycle of the manifest's patience
	leastMoves = 100_000 // the limit of transactions is at least this number
)

// motion records when streams moved, for the limits that end a run. Changes of levels (inputs without handshake) do not
// count.
type motion struct {
	moved  uint64   // latest cycle in which a stream moved
	judged uint64   // latest cycle in which a stream covered by the check moved
	since  uint64   // cycle since which no transaction has been due, of an input or an output
	ended  []uint64 // by stream: transactions that have ended
	by     []uint64 // copy of `ended` made in cycle `since`
	// A device may send requests, and a reference may give transactions, without end. Useful moves are those whose
	// number is limited in a run: of drawn transactions, and of outputs that answer them.
	useful uint64   // cycle of the latest useful move of a transaction
	before []uint64 // copy of `ended` made in cycle `useful`
}

// newMotion tracks n streams.
func newMotion(n int) motion {
	return motion{ended: make([]uint64, n), by: make([]uint64, n), before: make([]uint64, n)}
}

// expectMove records that a transaction can be offered from a cycle on: from then on the device has `patience` cycles
// to move.
func (m *motion) expectMove(cycle uint64, useful bool) {
	m.moved, m.judged = max(m.moved, cycle), max(m.judged, cycle)
	if useful {
		m.recordUseful(cycle)
	}
}

// recordUseful records a useful move, as described at type motion.
func (m *motion) recordUseful(cycle uint64) {
	m.useful = max(m.useful, cycle)
	copy(m.before, m.ended)
}

// idle counts the transactions that have ended since the latest useful move.
func (m *motion) idle() (n uint64) {
	for i, e := range m.ended {
		n += e - m.before[i]
	}
	return n
}

// moves records a beat of a stream: whether a transaction ended, whether the check covers the stream, and whether the
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
		p.failUnfair(cycle)
	}
	if useful {
		p.recordUseful(cycle)
	}
}

// finish ends the run when no input is left to offer and no output is expected, and fails it if it hangs.
func (p *played) finish() (ended bool, err error) {
	over := !p.waiting() && p.judge.Over()
	if !over {
		p.since = p.Cycles
		copy(p.by, p.ended)
	}
	within := fmt.Sprintf("%d cycles (play.patience and the stalls of the run)", p.patience)
	switch asked, settle := p.memoryInputs(), p.settle(); {
	case over && len(asked) == 0 && p.Cycles >= max(p.since, p.judged)+settle:
		p.judge.Finish(p.Cycles)
		return true, nil
	case over && p.Cycles >= p.since+p.patience+settle: // streams still move, although all was offered and received
		if !slices.ContainsFunc(asked, func(i int) bool { return p.ended[i] == p.by[i] }) {
			p.judge.Finish(p.Cycles)
			return true, nil
		}
		p.failHang(p.by, " within "+within, "nothing in "+within)
	case (!over || len(asked) > 0) && p.Cycles > p.moved+p.patience:
		p.failHang(p.ended, " within "+within, "nothing in "+within)
	case !over && p.judge.Over() && p.referenceActive() && p.Cycles > p.useful+mostGiven*p.patience:
		return false, p.mistake("it still gives transactions after %d cycles: want a run that comes to its end",
			p.Cycles)
	case !over && p.endless():
		n := p.Cycles - p.useful
		p.failHang(p.before, fmt.Sprintf(" within %d cycles", n), fmt.Sprintf("nothing in %d cycles", n))
	}
	return p.judge.Failed() != nil, nil
}

// referenceActive reports whether a user's reference keeps giving transactions.
func (p *played) referenceActive() bool { return p.referenced() && p.gaveAt+p.patience > p.Cycles }

// endless reports whether streams have moved for too long without a useful move. The limit is longer while a reference
// gives transactions, unless nothing is due.
func (p *played) endless() bool {
	patience := uint64(p.Spec.Patience)
	if p.referenceActive() {
		return !p.judge.Over() && p.Cycles > p.useful+mostGiven*p.patience
	}
	return p.Cycles > p.useful+mostCycles*patience+p.patience || p.idle() > max(leastMoves, mostMoves*patience)
}

// memoryInputs returns the inputs with pending transactions by which played memories answer the device.
func (p *played) memoryInputs() (list []int) {
	for i, s := range p.streams {
		if p.queues[i].pending() && p.judge.Plays(s.Name) {
			list = append(list, i)
		}
	}
	return list
}

// wait returns the time in which a stream must move. It is the manifest's patience, plus the longest pauses by stalls,
// plus the time of the longest transaction or burst, computed as if input and output stalled independently.
func (p *played) wait(m *timing) uint64 {
	beats, in, out := max(1, p.judge.Longest()), 0, 0
	var pauses [2]uint64 // longest pause of inputs and of outputs
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

// longestPause returns the number of cycles for which stalls may pause a stream without interruption; a longer pause
// has a probability below 1e-12. Stalls come in bursts of 2^burst cycles.
func longestPause(percent, burst int) (cycles uint64) {
	const impossible = 1e-12
	for chance := 1.0; percent > 0 && chance > impossible; cycles += 1 << burst {
		chance *= float64(percent) / 100
	}
	return cycles
}

// settle returns how many cycles must pass in which no transaction is due and no checked stream moves, before the run
// ends. More are needed while dropped transactions are missing that no counter of the device accounts for: they may
// still be on their way.
func (p *played) settle() uint64 {
	counted, _ := p.Observed(p.Spec.Drops.Counted)
	if n := p.judge.Missing(); n > 0 && (p.Spec.Drops.Counted == "" || counted != uint64(n)) {
		return p.patience
	}
	return uint64(p.Spec.Settle)
}

// failHang fails a run that makes no progress. from counts each stream's transactions at the last progress; within
// is the time that the device had for a beat, and silence describes the outputs. An input that is not taken is reported
// rather than a missing output.
func (p *played) failHang(from []uint64, within, silence string) {
	p.Hangs = p.judge.Failed() == nil
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
		if s.Kind == ref.Level || !p.queues[i].pending() || p.ended[i] > from[i] {
			continue
		}
		x := slices.Concat(p.queues[i].inFlight, p.queues[i].answers, p.queues[i].drawn)[0]
		p.judge.Fail(ref.Failure{
			Stream: s.Name, N: p.next[i], Cycle: p.Cycles, Field: fieldRule,
			Expected: "the offered beat to be taken" + within, Got: protocol.RuleHangIn.String() + p.tiedInputsHint(),
			Detail: strings.TrimSuffix("offered: "+s.Text(x.side, x.data)+"\n  "+detail, "\n  "),
		})
		return
	}
	p.judge.Stuck(p.Cycles, silence+p.tiedInputsHint())
	p.judge.Fail(ref.Failure{Cycle: p.Cycles, Field: "the run", Expected: "to come to its end",
		Got: silence + p.tiedInputsHint()})
	if f := p.judge.Failed(); f.Detail == "" {
		f.Detail = detail
	}
}
