package host

import (
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// pendingReply is a read that waits for its time.
type pendingReply struct {
	due   simcore.Ps
	seq   uint64 // order of arrival, decides ties
	reply tlp.Reply
	fault *armed // nil: all is well
	sent  int    // completions so far
}

func (a *pendingReply) before(b *pendingReply) bool {
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}

// replyHeap is a binary heap of values, so that answering allocates nothing.
type replyHeap []pendingReply

func (h *replyHeap) push(x pendingReply) {
	*h = append(*h, x)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].before(&s[up]) {
			return
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

func (h *replyHeap) pop() {
	s := *h
	last := len(s) - 1
	s[0] = s[last]
	s[last] = pendingReply{}
	*h = s[:last]
	h.sink(0)
}

// sink puts the entry at i, which may have become later, where it belongs.
func (h *replyHeap) sink(i int) {
	s := *h
	for {
		c := 2*i + 1
		if c >= len(s) {
			return
		}
		if c+1 < len(s) && s[c+1].before(&s[c]) {
			c++
		}
		if !s[c].before(&s[i]) {
			return
		}
		s[i], s[c] = s[c], s[i]
		i = c
	}
}
