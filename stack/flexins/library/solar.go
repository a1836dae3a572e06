package library

// endedAlone ends a Solar request, whether or not earlier ones have ended, and returns its ID. Its place in the queue
// is freed only when those before it have ended, too: the card's queue, which has as many places, frees them likewise.
func (q *QP) endedAlone(number uint64) uint64 {
	if number-q.first >= uint64(q.sends.Len()) { // a RESET has discarded the request
		return 0
	}
	id := *q.sends.At(int(number - q.first))
	if q.endedEarly == nil {
		q.endedEarly = map[uint64]bool{}
	}
	q.endedEarly[number] = true
	for q.sends.Len() > 0 && q.endedEarly[q.first] {
		delete(q.endedEarly, q.first)
		q.sends.Pop()
		q.first++
	}
	return id
}
