package golden

import "nictwin/models/nicspec"

// freshBells is the cycles of a queue's latest doorbells of which there is no
// doubt: a read of its ring that fails before they have taken effect makes them
// doubtful.
type freshBells [8]int64

func (f *freshBells) reset() {
	for i := range f {
		f[i] = never
	}
}

func (f *freshBells) note(cycle int64, doubt bool) {
	if doubt {
		return
	}
	copy(f[1:], f[:])
	f[0] = cycle
}

// doubted counts the doorbells that may not have taken effect by now, once.
func (r *Referee) doubted(f *freshBells) {
	for i, cycle := range f {
		if cycle != never && cycle+nicspec.VisibleCycles >= r.now {
			r.cnt.may(nicspec.CntDbBad.Index(), 1)
		}
		f[i] = never
	}
}
