package apps

// Stop makes the clients post no further messages: each flow ends with the last message that its client has posted, or
// has built in a way that cannot be undone. With Spec.SignalEvery it ends with the next signaled one, since the others
// have no completion.
func (r *Run) Stop() {
	for _, s := range r.sides {
		for i, e := range s.ends {
			if e.client {
				e.total = e.lastBeforeStop()
				s.peer.ends[i].total = e.total
			}
		}
	}
	for _, s := range r.sides {
		for _, e := range s.ends {
			e.role.advance()
		}
	}
}

// lastBeforeStop returns the number of messages with which a client's flow ends if it stops now.
func (e *end) lastBeforeStop() int {
	n := e.posted
	switch c := e.role.(type) {
	case *ringWriter:
		return c.next
	case *lookup:
		return c.begun
	case *client:
		n = max(n, c.counter.built)
	}
	every := e.spec.SignalEvery
	return min((n+every-1)/every*every, e.total)
}

// Posted returns the number of messages that the flows have, answers included: those of the spec, or after Stop those
// that were posted.
func (r *Run) Posted() (n int) {
	for _, s := range r.sides {
		for _, e := range s.ends {
			if e.client {
				n += e.total * r.spec.MessagesPerRequest()
			}
		}
	}
	return n
}
