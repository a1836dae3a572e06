package run

import (
	"nictwin/scenarios/run/stats"
	"nictwin/stack/apps"
)

// taking is implemented by stacks whose card has cores that take requests.
type taking interface {
	onTake(f func(qpn uint32)) // sets a function that is called for each, in the order of each queue pair
}

// taker is a flow whose requests are stamped when the card takes them.
type taker struct{ flow, next int }

// followTakes stamps the NOPs of all workloads when a core of the client's card takes them.
func (w *world) followTakes(to *stats.Recorder) {
	by := make([]map[uint32]*taker, len(w.stacks)) // by server and queue pair
	first := 0
	for i, run := range w.apps.Runs {
		flows := run.Flows()
		for _, f := range flows {
			if w.workloads[i].Kind != apps.Nop {
				break
			}
			client := &f.Ends[0]
			if by[client.Server] == nil {
				by[client.Server] = map[uint32]*taker{}
			}
			by[client.Server][client.QPN] = &taker{flow: first + f.Index}
		}
		first += len(flows)
	}
	for i, takers := range by {
		if s, ok := w.stacks[i].(taking); ok && takers != nil {
			s.onTake(func(qpn uint32) {
				if x := takers[qpn]; x != nil {
					to.Taken(w.engine.Now(), x.flow, x.next)
					x.next++
				}
			})
		}
	}
}
