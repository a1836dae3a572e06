package rnic

// Levels holds the lengths of the NIC's queues, over all ports and queue pairs. Completion queues have none: nobody
// tells the NIC what software has taken.
type Levels struct {
	Packets  int // packets that were planned and have not left
	RxBytes  int // of the receive buffer in use
	Sends    int // send entries that were posted and have not ended
	Receives int // receive entries that were posted and not consumed
}

// Levels returns the present lengths of the queues.
func (c *Comp) Levels() Levels {
	l := Levels{Packets: c.tx.packets, RxBytes: c.rx.held}
	for _, q := range c.qps {
		if q != nil {
			l.Sends += q.send.ahead() + q.Sends()
			if q.shared == nil {
				l.Receives += q.recv.ahead() + q.Receives()
			}
		}
	}
	for _, s := range c.srqs {
		l.Receives += s.left()
	}
	return l
}

// ahead returns how many entries were posted and have not been read from memory.
func (r *ring) ahead() int {
	n, f := int(r.pi-r.requested), r.fetches.first
	for range r.fetches.Len() {
		n, f = n+f.n, f.next
	}
	return n
}
