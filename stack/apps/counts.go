package apps

// receives returns the number of receive requests of a flow that are posted at a time: for RC twice
// the depth, so that RNR NAKs are the exception; for UC and UD, which drop messages without a receive
// request, as many as there are messages, up to a queue's limit.
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

// signals reports whether request m ends with a completion.
func (s *Spec) signals(m int) bool { return (m+1)%s.SignalEvery == 0 || m == s.Count-1 }

// signalled returns the first request from m on that ends with a completion.
func (s *Spec) signalled(m int) int { return min((m/s.SignalEvery+1)*s.SignalEvery-1, s.Count-1) }

// flows returns the number of flows of each process.
func (s *Spec) flows() int {
	if s.BothWays {
		return 2 * s.QueuePairs
	}
	return s.QueuePairs
}

// Messages returns the number of messages that the clients send, not counting answers.
func (s *Spec) Messages() int { return s.Processes * s.flows() * s.Count }

// MessagesPerRequest returns how many messages cross the network per client message: two if each is answered, else one.
func (s *Spec) MessagesPerRequest() int {
	if s.traits().TwoWay {
		return 2
	}
	return 1
}
