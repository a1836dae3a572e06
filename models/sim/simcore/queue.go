package simcore

import "math/bits"

const (
	wheelBits  = 12
	wheelSize  = 1 << wheelBits
	wheelMask  = wheelSize - 1
	wheelWords = wheelSize / 64

	firstShift    = 8       // initial bucket width, 256 ps
	maxShift      = 40      // largest bucket width, about a second
	firstInterval = 1 << 10 // pushes between two checks of the bucket width
	maxInterval   = 1 << 20
)

// queue orders events by (at, key). The first event is kept in head; its successor is looked for
// only when head is removed, after its handler has scheduled new events. Of the other events, those
// in the next wheelSize buckets of time are in the wheel, one sorted ring per bucket. The rest stay
// in a heap until they come first. The bucket width follows the traffic: it changes the speed,
// never the order.
type queue struct {
	head *Event // first event; nil if the queue is empty

	// tails[i] is the last event of bucket i's ring; its next is the first.
	tails   [wheelSize]*Event
	words   [wheelWords]uint64 // bit set of the occupied buckets
	summary uint64             // bit set of the words that are not zero
	shift   uint               // bucket width is 1<<shift ps
	near    int                // events in the wheel
	far     farHeap

	pushes, steps, farPushes, interval int
	grew                               bool // the latest change of the bucket width was an increase
}

func (q *queue) init() {
	q.shift = firstShift
	q.interval = firstInterval
}

func (q *queue) len() int {
	if q.head == nil {
		return 0
	}
	return 1 + q.near + len(q.far)
}

// slot returns the number of the bucket of a time. The mask, which changes nothing, tells the
// compiler that the shift is less than 64.
func (q *queue) slot(t Ps) Ps { return t >> (q.shift & 63) }

func (e *Event) before(f *Event) bool {
	return e.at < f.at || e.at == f.at && e.key < f.key
}

// push inserts an event with at >= now.
func (q *queue) push(ev *Event, now Ps) {
	switch first := q.head; {
	case first == nil:
		q.head = ev
		return
	case ev.before(first):
		q.head = ev
		ev = first
	}
	if q.pushes++; q.pushes >= q.interval {
		q.adapt(now)
	}
	q.place(ev, now)
}

func (q *queue) place(ev *Event, now Ps) {
	if uint64(q.slot(ev.at)-q.slot(now)) >= wheelSize {
		q.farPushes++
		q.far.push(ev)
		return
	}
	q.near++
	i := uint(q.slot(ev.at)) & wheelMask
	tail := q.tails[i]
	if tail == nil {
		ev.next = ev
		q.tails[i] = ev
		q.words[i/64] |= 1 << (i % 64)
		q.summary |= 1 << (i / 64)
		return
	}
	if tail.before(ev) {
		ev.next = tail.next
		tail.next = ev
		q.tails[i] = ev
		return
	}
	p := tail
	for p.next.before(ev) {
		p = p.next
		q.steps++
	}
	ev.next = p.next
	p.next = ev
}

// pop removes and returns the first event at or before limit, or returns nil.
func (q *queue) pop(limit Ps) *Event {
	ev := q.head
	if ev == nil || ev.at > limit {
		return nil
	}
	q.head = q.extract(ev.at)
	return ev
}

// extract removes and returns the first event of wheel and heap, or nil if both are empty. No event
// may be before now.
func (q *queue) extract(now Ps) *Event {
	if q.summary == 0 {
		if len(q.far) == 0 {
			return nil
		}
		return q.far.pop()
	}
	i := q.first(uint(q.slot(now)) & wheelMask)
	tail := q.tails[i]
	ev := tail.next
	if len(q.far) != 0 && q.far[0].ev.before(ev) {
		return q.far.pop()
	}
	q.near--
	if ev != tail {
		tail.next = ev.next
		return ev
	}
	q.tails[i] = nil
	if q.words[i/64] &^= 1 << (i % 64); q.words[i/64] == 0 {
		q.summary &^= 1 << (i / 64)
	}
	return ev
}

// first returns the first occupied bucket from i on, wrapping around.
func (q *queue) first(i uint) uint {
	w := i / 64
	if m := q.words[w] >> (i % 64); m != 0 {
		return i + uint(bits.TrailingZeros64(m))
	}
	// No bit from i on in word w: look in the words after it, then from the start up to w itself.
	if s := q.summary &^ (2<<w - 1); s != 0 {
		w = uint(bits.TrailingZeros64(s))
	} else {
		w = uint(bits.TrailingZeros64(q.summary))
	}
	w %= wheelWords
	return w*64 + uint(bits.TrailingZeros64(q.words[w]))
}

// adapt widens the buckets if many events miss the wheel, and narrows them if many insertions must
// search a bucket. A change of direction doubles the interval between checks, so that traffic for
// which no width is right costs little.
func (q *queue) adapt(now Ps) {
	wide, narrow := q.farPushes*4 > q.pushes, q.steps > q.pushes
	q.interval = max(q.interval, min(4*q.len(), maxInterval))
	q.pushes, q.steps, q.farPushes = 0, 0, 0
	switch {
	case narrow && !wide && q.shift > 0:
		q.setShift(q.shift-1, now, false)
	case wide && !narrow && q.shift < maxShift:
		q.setShift(q.shift+1, now, true)
	}
}

func (q *queue) setShift(shift uint, now Ps, grew bool) {
	if grew != q.grew {
		q.interval = min(2*q.interval, maxInterval)
	}
	q.grew = grew
	var all *Event // all events of the wheel, as a chain
	for i, tail := range q.tails {
		if tail == nil {
			continue
		}
		first := tail.next
		tail.next = all
		all = first
		q.tails[i] = nil
	}
	q.words, q.summary, q.near = [wheelWords]uint64{}, 0, 0
	q.shift = shift
	for all != nil {
		ev := all
		all = ev.next
		ev.next = nil
		q.place(ev, now)
	}
	q.steps, q.farPushes = 0, 0
}
