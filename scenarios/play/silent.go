package play

import (
	"slices"

	"nictwin/models/ref"
)

// silent tells what a device was to do that does nothing more.
func (p *played) silent(got string) {
	p.p.Stuck(p.Cycles, got)
	for i := range p.queues {
		if q := &p.queues[i]; p.p.Failed() == nil && p.streams[i].Kind != ref.Level && q.left() {
			x := slices.Concat(q.under, q.answers, q.drawn)[0]
			p.p.Fail(ref.Failure{Stream: p.streams[i].Name, Cycle: p.Cycles, Field: "transaction",
				Expected: "to be taken: " + p.streams[i].Text(x.side, x.data), Got: got})
		}
	}
	p.p.Fail(ref.Failure{Cycle: p.Cycles, Field: "the run", Expected: "to come to its end", Got: got})
}
