package apps

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/sim/fifo"
	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

// Layout of a list node that READs bring: key, value, address of the next node or 0.
const (
	nodeKeyBytes = 8
	nodeNextAt   = nodeKeyBytes + valueBytes
	NodeBytes    = nodeNextAt + 8
)

// EncodeNode encodes a list node.
func EncodeNode(b []byte, key uint64, value []byte, next uint64) {
	binary.LittleEndian.PutUint64(b, key)
	copy(b[nodeKeyBytes:nodeNextAt], value)
	binary.LittleEndian.PutUint64(b[nodeNextAt:], next)
}

// lookup is the client of a flow whose messages are lookups by several READs. A walk READs one node after the other,
// each at the address that the bytes of the one before it give; a batch posts the READs of all its values at once. The
// last READ of each step is signaled.
//
// The READs of a flow are posted in the order in which the steps before them ended, so that timing does not decide it.
type lookup struct {
	*client
	tasks    []task
	steps    fifo.Queue[int] // tasks with READs to post
	underWay fifo.Queue[step]
	begun    int // lookups begun
	reads    int // READs posted
	over     int // READs that are known to have ended
}

// task is a lookup in progress. Its index is that of its slot in the client's memory.
type task struct {
	message int
	node    int    // list_walk: nodes that have arrived
	next    uint64 // list_walk: address of the next one
	posted  int    // READs of the present step
}

// step is a step whose READs are posted, with the number of the last of these READs.
type step struct{ task, last int }

// readsOf returns the number of READs that a step of message m has.
func (s *Spec) readsOf(m int) int {
	if s.Kind == BatchedRead {
		return s.size(m) / valueBytes
	}
	return 1
}

// sendRequests returns the most send requests of a client under way.
func (s *Spec) sendRequests() int {
	if s.traits().Pattern == kind.Lookups && s.Kind == BatchedRead {
		return s.Depth * s.largest() / valueBytes
	}
	return s.Depth
}

// RoundTrips returns the most round trips of the network that a message takes, one after the other.
func (s *Spec) RoundTrips() int {
	if s.traits().Pattern == kind.Lookups && s.Kind == ListWalk {
		return s.nodes()
	}
	return 1
}

// begin begins the first lookups.
func (l *lookup) begin() {
	l.tasks = make([]task, min(l.spec.Depth, l.total))
	for i := range l.tasks {
		l.start(i)
	}
}

// start begins the next lookup in a slot that is free.
func (l *lookup) start(slot int) {
	if l.begun == l.total {
		return
	}
	t := &l.tasks[slot]
	*t = task{message: l.begun}
	if l.spec.Kind == ListWalk {
		t.next = l.buildQuery(t.message).Head
	}
	l.begun++
	l.steps.Push(slot)
}

// advance implements role by posting the READs of all steps that wait.
func (l *lookup) advance() {
	if l.tasks == nil {
		l.begin()
	}
	for l.steps.Len() > 0 && !l.stopped && !l.full && l.postStep(*l.steps.Front()) {
		l.steps.Pop()
	}
}

// postStep posts the READs of a step, and reports whether the queue took them all.
func (l *lookup) postStep(slot int) bool {
	t := &l.tasks[slot]
	n := l.spec.readsOf(t.message)
	l.buildReads(slot, n)
	k, err := l.qp.PostSend(l.wrs[:n-t.posted])
	l.reads += k
	if k > 0 && t.node == 0 && t.posted == 0 {
		l.posted++
		l.observed(Observer.Posted, t.message)
	}
	if t.posted += k; t.posted == n {
		l.underWay.Push(step{slot, l.reads - 1})
		t.posted = 0
		return true
	}
	l.postFailed(k, n, err)
	return false
}

// buildReads builds the READs of a step of n READs that are not posted yet.
func (l *lookup) buildReads(slot, n int) {
	t := &l.tasks[slot]
	q, bytes := &l.served.query, uint32(NodeBytes)
	if l.spec.Kind == BatchedRead {
		q, bytes = l.buildQuery(t.message), valueBytes
	}
	for i := range n - t.posted {
		at, from := t.posted+i, t.next
		if l.spec.Kind == BatchedRead {
			from = q.Addrs[at]
		}
		l.sges[i] = append(l.sges[i][:0], verbs.SGE{Addr: l.out.pieceAddr(slot, 0) + uint64(at)*uint64(bytes),
			Length: bytes, LKey: l.side.mr.LKey})
		l.wrs[i] = verbs.SendWR{ID: uint64(l.reads + i), Opcode: verbs.WRRead, SGEs: l.sges[i], RemoteAddr: from,
			RKey: l.farKey}
		if at == n-1 {
			l.wrs[i].Flags = verbs.SendSignaled
		}
	}
}

// ended handles the completion of a READ.
func (l *lookup) ended(wc *verbs.WC) {
	c := Completion{ID: wc.ID, Status: wc.Status, Message: -1}
	ok := l.underWay.Len() > 0
	if ok {
		c.Message = l.tasks[l.underWay.Front().task].message
	}
	l.over = max(l.over, int(wc.ID)+1)
	if wc.Status != verbs.WCSuccess { // on failure, also a READ that was posted unsignaled completes
		l.sendDone = append(l.sendDone, c)
		return
	}
	c.Opcode, c.Flags = wc.Opcode, wc.Flags
	l.sendDone = append(l.sendDone, c)
	if !ok || wc.ID != uint64(l.underWay.Front().last) {
		l.fail(Finding{What: "order", Message: c.Message,
			Text: fmt.Sprintf("the completion of READ %d: expected that of the last READ of the oldest step", wc.ID)})
		return
	}
	if want := verbs.WRRead.Completion(); wc.Opcode != want {
		l.fail(Finding{What: "opcode", Message: c.Message,
			Text: fmt.Sprintf("READ %d ended as %v: expected %v", wc.ID, wc.Opcode, want)})
	}
	slot := l.underWay.Pop().task
	switch found, ok := l.take(slot); {
	case !ok:
		l.stopped = true // the address of the next node is not known
	case found:
		l.acked++
		l.countMessage(l.spec.size(c.Message))
		l.observed(Observer.Completed, c.Message)
		l.start(slot)
	default:
		l.steps.Push(slot)
	}
}

// take checks the bytes that a step brought. It reports whether the lookup has ended; ok is false if bytes are wrong.
func (l *lookup) take(slot int) (ended, ok bool) {
	if l.spec.Kind == BatchedRead {
		return true, l.takeValues(slot)
	}
	s, t := l.spec, &l.tasks[slot]
	want, next := l.want(NodeBytes), uint64(0)
	if t.node+1 < s.nodes() {
		next = l.remote.pieceAddr(s.slot(t.node+1), 0)
	}
	pattern(want[nodeKeyBytes:nodeNextAt], s.Seed, l.flow, request, t.node)
	EncodeNode(want, s.key(l.flow, t.node), want[nodeKeyBytes:nodeNextAt], next)
	got := l.got(NodeBytes)
	if !l.takeBytes(slot, got, want) {
		return false, false
	}
	// The walk goes on by the bytes that arrived, as that of an application which does not know the list.
	key := binary.LittleEndian.Uint64(got)
	t.next = binary.LittleEndian.Uint64(got[nodeNextAt:])
	t.node++
	return key == s.key(l.flow, s.hops(t.message)-1) || t.next == 0, true
}

// takeValues checks the values of a batch.
func (l *lookup) takeValues(slot int) bool {
	n := l.spec.size(l.tasks[slot].message)
	l.buildQuery(l.tasks[slot].message)
	want := l.want(n)
	for i, from := range l.served.slots {
		pattern(want[i*valueBytes:][:valueBytes], l.spec.Seed, l.flow, request, from)
	}
	return l.takeBytes(slot, l.got(n), want)
}

// takeBytes loads the bytes in a slot and compares them with the expected ones.
func (l *lookup) takeBytes(slot int, got, want []byte) bool {
	a := &l.out
	return l.check("load", a.load(l.side.Core, slot, 0, a.piece, got)) &&
		l.equal(got, want, l.tasks[slot].message, func(off int) uint64 { return a.byteAddr(slot, off, a.piece) })
}

// sent implements role; ended handles the completions.
func (l *lookup) sent(int, int) {}

// done implements role.
func (l *lookup) done() bool {
	if l.stopped {
		return l.over == l.reads
	}
	return l.acked == l.total
}

func (l *lookup) areas(f func(*area, bool)) { f(&l.out, true) }

var _ role = (*lookup)(nil)
