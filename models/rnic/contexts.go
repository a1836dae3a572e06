package rnic

import "nictwin/models/sim/fifo"

// holder holds a context, or waits for one.
type holder interface {
	granted(c *Comp)
}

// contexts are shared by the endpoints, except for a reserve of each.
type contexts struct {
	most, reserve int
	used          [2]int
	waiting       [2]fifo.Queue[holder]
	turn          int // endpoint looked at first
}

// free reports whether an endpoint can have one more context.
func (x *contexts) free(ep int) bool {
	if x.used[ep] < x.reserve {
		return true
	}
	shared := 0
	for _, n := range x.used {
		shared += max(0, n-x.reserve)
	}
	return shared < x.most-x.reserve
}

// ready reports whether an endpoint can have one more, and no request waits for one of either
// endpoint.
func (x *contexts) ready(ep int) bool {
	return x.waiting[0].Len()+x.waiting[1].Len() == 0 && x.free(ep)
}

// has reports whether a new request of an endpoint gets a context at once.
func (x *contexts) has(ep int) bool { return x.waiting[ep].Len() == 0 && x.free(ep) }

// take gives h a context of an endpoint, now or when one is free; requests of an endpoint are
// served in order.
func (c *Comp) take(ep int, h holder) {
	x := &c.contexts
	if !x.has(ep) {
		x.waiting[ep].Push(h)
		return
	}
	x.used[ep]++
	h.granted(c)
}

// give returns a context.
func (c *Comp) give(ep int) {
	x := &c.contexts
	x.used[ep]--
	for i := 0; i < len(x.used); i++ {
		e := (x.turn + i) % len(x.used)
		if x.waiting[e].Len() > 0 && x.free(e) {
			x.turn = (e + 1) % len(x.used)
			x.used[e]++
			x.waiting[e].Pop().granted(c)
			return
		}
	}
}
