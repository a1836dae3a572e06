package play

import (
	"math/rand/v2"
	"slices"

	"nictwin/models/field"
	"nictwin/models/ref"
)

// drawResets are after how many transactions that were taken the device is reset; every other run has none.
func (p *played) drawResets(r *rand.Rand) error {
	if !p.Spec.Resets.given() {
		return nil
	}
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
		p.resets = append(p.resets, r.IntN(total))
	}
	slices.Sort(p.resets)
	if p.referenced() && !p.p.Resets() {
		return &SpecError{p.located(field.Errorf("play.resets", "the reference has no OnReset, which says what it forgets"))}
	}
	return nil
}

// reset resets the device if it is time for that. What it has not taken is offered again; answers are not.
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
			q.answers = nil
			q.drawn = slices.Concat(slices.DeleteFunc(q.under, func(x item) bool { return x.answer }), q.drawn)
			q.under = nil
		}
	}
	p.trace("%8d %8s     reset\n", p.Cycles, "")
	p.latest = p.Cycles
	p.p.Reset(p.Cycles)
	return nil
}
