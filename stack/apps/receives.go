package apps

import (
	"errors"

	"nictwin/stack/verbs"
)

// receives is a receive queue: one queue pair's, or one shared by all queue pairs of a server.
type receives struct {
	end    *end // the end that owns the queue; nil: the queue is shared
	side   *side
	area   area
	memory bool // requests name a slot of the area; false: they name no memory
	key    uint32
	total  int // requests to post over the whole run
	posted int
	spec   *Spec
	post   func([]verbs.RecvWR) (int, error)

	idleSlots []int // slots without a request, because the queue had no room
	wr        [1]verbs.RecvWR
	sges      []verbs.SGE
}

// begin posts a request for each slot.
func (r *receives) begin() {
	for s := range r.area.slots {
		r.postSlot(s)
	}
}

// postSlot posts a receive request for the memory of a slot, behind those of slots for which the queue had no room: the
// slots of a queue take messages in the order in which they became free.
func (r *receives) postSlot(slot int) {
	if !r.retry() || !r.tryPost(slot) {
		r.idleSlots = append(r.idleSlots, slot)
	}
}

// tryPost posts a receive request for the memory of a slot, unless all have been posted. It returns false if the queue
// has no room.
func (r *receives) tryPost(slot int) bool {
	if r.posted >= r.total || r.withheld() || r.end != nil && r.end.stopped {
		return true
	}
	n := 0
	if r.memory {
		n = r.area.piece * r.area.pieces
	}
	r.sges = r.area.spans(r.sges[:0], slot, n, max(r.area.piece, 1), r.key)
	r.injectFault()
	r.wr[0] = verbs.RecvWR{ID: recvBit | uint64(r.posted)<<slotBits | uint64(slot), SGEs: r.sges}
	_, err := r.post(r.wr[:])
	switch {
	case err == nil:
		r.posted++
		if r.end != nil && r.end.notice != nil {
			r.end.notice.await(slot)
		}
	case errors.Is(err, verbs.ENOMEM):
		r.side.recvsFull = true
		return false
	default:
		r.side.refused(r, err)
	}
	return true
}

// retry posts the requests that found no room. It stops and returns false when a request again finds no room.
func (r *receives) retry() bool {
	for i, slot := range r.idleSlots {
		if !r.tryPost(slot) {
			r.idleSlots = append(r.idleSlots[:0], r.idleSlots[i:]...)
			return false
		}
	}
	r.idleSlots = r.idleSlots[:0]
	return true
}

// injectFault makes the request that is being built faulty if the spec's fault is for it.
func (r *receives) injectFault() {
	x := r.spec.Misuse
	if !r.faulty() || r.posted != x.Message {
		return
	}
	if x.What == BadReceive {
		r.sges[0].LKey ^= strangeKey
		return
	}
	r.sges[0].Length = uint32(r.spec.size(x.Message) - 1 + r.spec.header())
}

// faulty reports whether the spec's fault is for receive requests of this queue.
func (r *receives) faulty() bool {
	x := r.spec.Misuse
	return x != nil && x.What.receive() && r.end != nil && r.end.flow == 0 && !r.end.client
}

// withheld reports whether the next request must not be posted because of fault no_receive.
func (r *receives) withheld() bool {
	return r.faulty() && r.spec.Misuse.What == NoReceive && r.posted >= r.spec.Misuse.Message
}

// strangeKey, XORed into a key, gives a key that no region has.
const strangeKey = 0x00ff_ff00

// header returns the length of the header before the message in a receive buffer.
func (s *Spec) header() int {
	if s.Transport == UD {
		return verbs.GRHBytes
	}
	return s.prefix()
}

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

// closes reports whether request m of kind write_imm has immediate data.
func (s *Spec) closes(m int) bool { return (m+1)%s.CloseEvery == 0 || m == s.Count-1 }

// receptions returns the number of receive requests that the messages of a flow take.
func (s *Spec) receptions() int { return (s.Count + s.CloseEvery - 1) / s.CloseEvery }

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
