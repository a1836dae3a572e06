package data

// reorder is the memory to which packets that arrived too early are copied (SN 3.3). A core's connections share it.
type reorder struct {
	free []uint64 // free slots
}

func (r *reorder) open(at uint64, n, each int) {
	for i := range n {
		r.free = append(r.free, at+uint64(i*each))
	}
}

func (r *reorder) take() (at uint64, ok bool) {
	n := len(r.free)
	if n == 0 {
		return 0, false
	}
	at, r.free = r.free[n-1], r.free[:n-1]
	return at, true
}
