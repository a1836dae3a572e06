package pair

import "runtime/debug"

// heapGrowth is the percentage by which the heap may grow between two collections while traffic is played. Servers stop
// allocating once their queues have reached their final size. Garbage collection in one process delays both, since
// neither may be more than a round ahead.
const heapGrowth = 800

// collectLess makes garbage collection rarer unless the user has set it already; undo restores the setting.
func collectLess() (undo func()) {
	was := debug.SetGCPercent(heapGrowth)
	if was < 0 || was > heapGrowth {
		debug.SetGCPercent(was)
	}
	return func() { debug.SetGCPercent(was) }
}
