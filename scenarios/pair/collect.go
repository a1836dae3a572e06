package pair

import "runtime/debug"

// heapGrowth is by how many percent the heap may grow between two collections while traffic is played. Servers
// allocate while their queues grow to what they will be, and then no more; a collection in one process holds up both,
// as neither can be ahead of the other by more than a round.
const heapGrowth = 800

// collectLess has garbage collected less often, unless that was asked for already; undo sets it as it was.
func collectLess() (undo func()) {
	was := debug.SetGCPercent(heapGrowth)
	if was < 0 || was > heapGrowth {
		debug.SetGCPercent(was)
	}
	return func() { debug.SetGCPercent(was) }
}
