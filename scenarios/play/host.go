package play

import (
	"slices"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// Methods of ref.Host and own.Host: how a reference acts on a run.

// Offer queues a transaction that the reference gives.
func (p *played) Offer(o ref.Offer) {
	i, _ := p.index(o.Stream.Name)
	p.gaveAt = p.Cycles
	x := item{stream: i, at: p.Cycles + o.Delay, side: o.Side, data: o.Data, drawn: !p.running}
	if x.answer = o.Answer; o.Answer {
		p.queues[i].answers = append(p.queues[i].answers, x)
		return
	}
	p.queue(x)
}

// Job gives the reference's next job a number, and reports whether the run includes this job.
func (p *played) Job() bool {
	id := p.jobs
	p.jobs++
	if !kept(p.Keep, id) {
		return false
	}
	p.began = append(p.began, id)
	return true
}

// Now returns the first cycle in which a new offer may be taken.
func (p *played) Now() uint64 { return p.Cycles }

// Observed returns the last sample of an observed output.
func (p *played) Observed(name string) (uint64, bool) {
	i := slices.IndexFunc(p.hello.Observe, func(s protocol.Signal) bool { return s.Name == name })
	if i < 0 {
		return 0, false
	}
	if i >= len(p.observed) {
		return 0, true
	}
	return p.observed[i], true
}

// Parameter returns the value of a parameter of the build.
func (p *played) Parameter(name string) (string, bool) {
	v, ok := p.Manifest.Parameters[name]
	return v, ok
}

// Sampled returns the values of the observed outputs at the end of the latest exchange with the device.
func (p *played) Sampled() []uint64 { return p.observed }
