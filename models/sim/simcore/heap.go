package simcore

// farHeap is a 4-ary heap of the events that lie beyond the wheel. Its entries contain the sort
// keys, so that comparing them does not access the events.
type farHeap []farEntry

type farEntry struct {
	at  Ps
	key uint64
	ev  *Event
}

func (a *farEntry) before(b *farEntry) bool {
	return a.at < b.at || a.at == b.at && a.key < b.key
}

func (h *farHeap) push(ev *Event) {
	*h = append(*h, farEntry{})
	s := *h
	x := farEntry{ev.at, ev.key, ev}
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !x.before(&s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = x
}

// pop removes the first entry of a heap that is not empty.
func (h *farHeap) pop() *Event {
	s := *h
	top := s[0].ev
	n := len(s) - 1
	x := s[n]
	s[n] = farEntry{}
	s = s[:n]
	*h = s
	if n > 0 {
		s.sink(x)
	}
	return top
}

// sink puts x into the heap, moving it down from the root, which is vacant.
func (h farHeap) sink(x farEntry) {
	i, n := 0, len(h)
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&x) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = x
}
