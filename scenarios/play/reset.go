package play

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
)

// planResets chooses after which numbers of taken transactions the device is reset: those that the user gives, or drawn
// ones.
func (p *played) planResets(r *rand.Rand) error {
	if p.Spec.Resets.given() {
		p.resets = p.drawResets(r)
	}
	if p.Given.Resets != nil {
		p.resets = slices.Sorted(slices.Values(p.Given.Resets))
	}
	if p.referenced() && !p.judge.Resets() && (p.Spec.Resets.given() || len(p.resets) > 0) {
		return &SpecError{p.located(field.Errorf("play.resets",
			"the reference has no OnReset, which says what it forgets"))}
	}
	return nil
}

// drawResets draws the numbers of taken transactions after which the device is reset. In half of all runs, drawn at
// random, there is no reset.
func (p *played) drawResets(r *rand.Rand) (list []int) {
	n, total := int(p.Spec.Resets.draw(r)), 0
	for i := range p.queues {
		if p.streams[i].Kind != ref.Level {
			total += len(p.queues[i].drawn)
		}
	}
	if r.IntN(2) == 0 || total == 0 {
		return nil
	}
	for range n {
		list = append(list, r.IntN(total))
	}
	slices.Sort(list)
	return list
}

// reset resets the device if a reset is due. Transactions that were not taken are offered again; pending answers are
// dropped.
func (p *played) reset() error {
	if len(p.resets) == 0 || p.Taken < p.resets[0] {
		return nil
	}
	for len(p.resets) > 0 && p.Taken >= p.resets[0] {
		p.resets = p.resets[1:]
	}
	if err := p.conn.Reset(p.Cycles); err != nil {
		return err
	}
	for i := range p.queues {
		if q := &p.queues[i]; p.streams[i].Kind != ref.Level {
			p.next[i] += uint64(len(q.inFlight)) // the numbers of dropped transactions are not reused
			q.answers = nil
			q.drawn = slices.Concat(slices.DeleteFunc(q.inFlight, func(x item) bool { return x.answer }), q.drawn)
			q.inFlight = nil
		}
	}
	p.trace("%8d %8s     reset\n", p.Cycles, "")
	p.moved, p.judged = p.Cycles, p.Cycles
	clear(p.fair.starved)
	p.judge.Reset(p.Cycles)
	return nil
}
