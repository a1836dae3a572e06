package apps

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

// Sharers says whose flows share a receive queue.
type Sharers string

// Sharers of a receive queue.
const (
	SharedByApplication Sharers = "application" // the flows of each application
	SharedByServer      Sharers = "server"      // those of all applications on a server, which share its memory
)

// receives is an application's end of a receive queue: of a queue pair's own, or of a shared one.
type receives struct {
	*pool
	end  *end // the end that owns the queue; nil: the queue is shared
	side *side
	spec *Spec
	post func([]verbs.RecvWR) (int, error)

	first, slots int // slots that the application has first
	// slots that the application has, and that have no request: a batch is not complete, or the queue had no room
	idleSlots []int
	wrs       []verbs.RecvWR
	sges      [][]verbs.SGE // of each of wrs
}

// pool is the memory of a receive queue. With SharedByServer several applications post to the queue: whichever took a
// message has the slot, until it has posted it again.
type pool struct {
	owner  *side // has the memory
	area   area
	memory bool // requests name a slot of the area; false: they name no memory
	key    uint32
	handed int // slots that applications have first, so far
	total  int // requests to post over the whole run
	posted int
}

// hand gives an application its first slots.
func (r *receives) hand(slots int) {
	r.first, r.slots = r.handed, slots
	r.handed += slots
}

// makeBatch allocates the scratch for one batch of requests.
func (r *receives) makeBatch() {
	r.wrs = make([]verbs.RecvWR, r.spec.ReceiveBatch)
	for range r.wrs {
		r.sges = append(r.sges, make([]verbs.SGE, 0, maxPieces))
	}
}

// begin posts a request for each slot that the application has.
func (r *receives) begin() {
	for s := range r.slots {
		r.postSlot(r.first + s)
	}
	r.retry()
}

// postSlot posts receive requests once there is a batch of slots for them, or the last ones: the slots of a queue take
// messages in the order in which they became free.
func (r *receives) postSlot(slot int) {
	r.idleSlots = append(r.idleSlots, slot)
	if len(r.idleSlots) >= min(r.spec.ReceiveBatch, r.total-r.posted) {
		r.retry()
	}
}

// retry posts requests for all slots without one, a batch at a time. It stops and returns false when a request finds no
// room.
func (r *receives) retry() bool {
	next := 0
	for next < len(r.idleSlots) {
		n, ok := r.postBatch(r.idleSlots[next:])
		if next += n; !ok {
			r.idleSlots = append(r.idleSlots[:0], r.idleSlots[next:]...)
			return false
		}
	}
	r.idleSlots = r.idleSlots[:0]
	return true
}

// postBatch posts a list of requests for the first slots of some, and returns how many slots need no further attempt:
// they have requests, or get none, because all have been posted or the end has stopped. It returns false if the queue
// has no room for the next slot.
func (r *receives) postBatch(slots []int) (n int, ok bool) {
	slots = slots[:min(len(slots), len(r.wrs))]
	k := 0
	for k < len(slots) && r.posted+k < r.total && !r.withheld(r.posted+k) && (r.end == nil || !r.end.stopped) {
		r.build(k, slots[k])
		k++
	}
	if k == 0 {
		return len(slots), true
	}
	posted, err := r.post(r.wrs[:k])
	for _, slot := range slots[:posted] {
		r.posted++
		if r.end != nil && r.end.notice != nil {
			r.end.notice.await(slot)
		}
	}
	switch {
	case err == nil:
		return k, true
	case errors.Is(err, verbs.ENOMEM):
		r.side.recvsFull = true
		return posted, false
	}
	r.side.refused(r, err)
	return posted + 1, true
}

// build builds the request at index i of a list, for the memory of a slot.
func (r *receives) build(i, slot int) {
	n := 0
	if r.memory {
		n = r.area.piece * r.area.pieces
	}
	r.sges[i] = r.area.spans(r.sges[i][:0], slot, n, max(r.area.piece, 1), r.key)
	r.injectFault(r.posted+i, r.sges[i])
	r.wrs[i] = verbs.RecvWR{ID: recvBit | uint64(r.posted+i)<<slotBits | uint64(slot), SGEs: r.sges[i]}
}

// injectFault makes request i, which is being built, faulty if the spec's fault is for it.
func (r *receives) injectFault(i int, sges []verbs.SGE) {
	x := r.spec.Misuse
	if !r.faulty() || i != x.Message {
		return
	}
	if x.What == BadReceive {
		sges[0].LKey ^= strangeKey
		return
	}
	sges[0].Length = uint32(r.spec.size(x.Message) - 1 + r.spec.header())
}

// faulty reports whether the spec's fault is for receive requests of this queue.
func (r *receives) faulty() bool {
	x := r.spec.Misuse
	return x != nil && x.What.receive() && r.end != nil && r.end.flow == 0 && !r.end.client
}

// withheld reports whether request i must not be posted because of fault no_receive.
func (r *receives) withheld(i int) bool {
	return r.faulty() && r.spec.Misuse.What == NoReceive && i >= r.spec.Misuse.Message
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
func (s *Spec) receives() int { return min(s.wholeReceives(), s.Count) }

// wholeReceives returns the number of receive requests of a flow that has more messages than that.
func (s *Spec) wholeReceives() int {
	switch {
	case s.Receives != 0:
		return s.Receives
	case s.Transport != RC:
		return maxDepth
	}
	return 2 * s.Depth
}

// validateReceiveBatch rejects lists of receive requests that never become complete, and options of receive requests
// that a workload does not have. Of an end's buffers, those of answers that no completion has covered yet may be in
// use, while no message comes that would cover them. The same bound holds for the flows that share a queue: an
// application without a whole batch keeps fewer buffers than one of its flows may.
func (s *Spec) validateReceiveBatch(bad func(ok bool, path field.Path, format string, a ...any)) {
	usual, t := DefaultSpec(), s.traits()
	takes := t.Receives || t.Answered()
	bad(s.SharedReceiveBy == SharedByApplication || s.SharedReceiveBy == SharedByServer, "shared_receive_by",
		"%q: want %s or %s", s.SharedReceiveBy, SharedByApplication, SharedByServer)
	bad(s.SharedReceiveBy != SharedByServer || s.SharedReceive, "shared_receive_by", "%s: each flow has a receive "+
		"queue of its own: want %s, or %v true", s.SharedReceiveBy, SharedByApplication, field.Path("shared_receive"))
	if need := min(2*s.Depth, s.Count); s.Kind == Reflector && s.Transport == RC && s.BothWays && s.SharedReceive {
		bad(s.receives() >= need, "receives", "%d: kind %s with %v and %v keeps requests in the buffers that answers "+
			"need: want %d or more, twice %v or all of %v", s.Receives, s.Kind, field.Path("both_ways"),
			field.Path("shared_receive"), need, field.Path("depth"), field.Path("count"))
	}
	if s.ReceiveBatch != usual.ReceiveBatch {
		most := s.wholeReceives() - s.SignalEvery + 1
		bad(takes && t.Pattern == kind.Requests, "receive_batch", "%d: kind %s takes no receive requests: want %d",
			s.ReceiveBatch, s.Kind, usual.ReceiveBatch)
		bad(s.ReceiveBatch >= 1 && s.ReceiveBatch <= max(most, 1), "receive_batch", "%d: want 1 to %d, as %v %d and "+
			"%v %d leave", s.ReceiveBatch, max(most, 1), field.Path("receives"), s.wholeReceives(),
			field.Path("signal_every"), s.SignalEvery)
	}
	if s.ReceiveBytes != usual.ReceiveBytes {
		bad(takes && (t.Sends || t.Served), "receive_bytes", "%d: kind %s takes no messages from buffers of receive "+
			"requests: want %d", s.ReceiveBytes, s.Kind, usual.ReceiveBytes)
		bad(!s.LowLatency, "receive_bytes", "%d: buffers of low-latency queue pairs have the length of messages: want "+
			"%d, or %v false", s.ReceiveBytes, usual.ReceiveBytes, field.Path("low_latency"))
	}
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
