package apps

// receives reports whether messages take receive requests of the server.
func (k Kind) receives() bool { return k.sends() || k == WriteImm }

// receives is how many receive requests of a flow are posted at a time: for RC twice the depth, so that a receiver
// that is not ready is the exception; for UC and UD, which drop what finds none, as many as messages come, up to a
// queue's limit.
func (s *Spec) receives() int {
	n := s.Receives
	if n == 0 {
		n = 2 * s.Depth
		if s.Transport != RC {
			n = maxDepth
		}
	}
	return min(n, s.Count)
}

// signals reports whether a request ends with a completion.
func (s *Spec) signals(m int) bool { return (m+1)%s.SignalEvery == 0 || m == s.Count-1 }

// signalled is the first request from m on that ends with a completion.
func (s *Spec) signalled(m int) int { return min((m/s.SignalEvery+1)*s.SignalEvery-1, s.Count-1) }

// flows is how many there are of each process.
func (s *Spec) flows() int {
	if s.BothWays {
		return 2 * s.QueuePairs
	}
	return s.QueuePairs
}

// Messages is how many the clients send, answers not counted.
func (s *Spec) Messages() int { return s.Processes * s.flows() * s.Count }

// Ways is how many messages there are for each that a client sends: two where it is answered.
func (s *Spec) Ways() int {
	if s.Kind.twoWay() {
		return 2
	}
	return 1
}
