package rnic

import "nictwin/models/sim/fifo"

// holder is a packet that holds a context, or waits for one. granted is called when the packet gets its context.
type holder interface {
	granted(c *Comp)
}

// contexts is the pool of contexts. Each endpoint has a reserve of its own; the endpoints share the
// rest.
type contexts struct {
	most, reserve int
	used          [2]int
	waiting       [2]fifo.Queue[holder]
	turn          int // endpoint whose queue is served first
}

// free reports whether an endpoint can use one more context.
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

// ready reports whether an endpoint can use one more context, and no request of either endpoint
// waits.
func (x *contexts) ready(ep int) bool {
	return x.waiting[0].Len()+x.waiting[1].Len() == 0 && x.free(ep)
}

// available reports whether a new request of an endpoint gets a context at once.
func (x *contexts) available(ep int) bool { return x.waiting[ep].Len() == 0 && x.free(ep) }

// acquire gives h a context of an endpoint, now or when one is free. An endpoint's requests are
// served in order.
func (c *Comp) acquire(ep int, h holder) {
	x := &c.contexts
	if !x.available(ep) {
		x.waiting[ep].Push(h)
		return
	}
	x.used[ep]++
	h.granted(c)
}

// releaseContext returns a context of an endpoint to the pool, and grants it to the next request that can
// use it.
func (c *Comp) releaseContext(ep int) {
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
