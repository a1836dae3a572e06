package replay

import (
	"bytes"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
)

// inFlight holds the received frames of a port that may still be delivered. The NIC may have dropped some of them, so
// only the latest inFlightBytes are kept: twice what the referee keeps, and far more than a NIC can hold.
type inFlight struct {
	frames []traffic.Frame // a frame without data has been delivered
	base   int             // ordinal of the frame at index 0
	head   int             // index of the first frame with data; earlier ones are delivered or given up
	bytes  int
}

const (
	inFlightBytes = 8 << 20
)

// add adds the next frame.
func (w *inFlight) add(f traffic.Frame) {
	w.frames = append(w.frames, f)
	w.bytes += len(f.Data) + traffic.FrameCost
	for w.bytes > inFlightBytes {
		w.drop(w.head)
	}
	w.trim()
}

// take removes and returns a frame that is in flight.
func (w *inFlight) take(ordinal int) (traffic.Frame, bool) {
	i := ordinal - w.base
	if i < w.head || i >= len(w.frames) || w.frames[i].Data == nil {
		return traffic.Frame{}, false
	}
	f := w.frames[i]
	w.drop(i)
	w.trim()
	return f, true
}

// origin returns where a frame was captured, if the frame is still in the list.
func (w *inFlight) origin(ordinal int) capture.Origin {
	if i := ordinal - w.base; i >= 0 && i < len(w.frames) {
		return w.frames[i].Origin
	}
	return capture.Origin{}
}

func (w *inFlight) drop(i int) {
	w.bytes -= len(w.frames[i].Data) + traffic.FrameCost
	w.frames[i].Data = nil
	for w.head < len(w.frames) && w.frames[w.head].Data == nil {
		w.head++
	}
}

// trim removes the delivered frames at the beginning once they are half of the list.
func (w *inFlight) trim() {
	if w.head > 64 && w.head > len(w.frames)/2 {
		n := copy(w.frames, w.frames[w.head:])
		clear(w.frames[n:])
		w.frames, w.base, w.head = w.frames[:n], w.base+w.head, 0
	}
}

// take removes and returns the expected frame for one that came out of a port; nil if no frame is expected. Cables may
// reorder frames of one queue that leave by different ports, which the referee checks [T1]; frames of one port stay in
// order. If the frame differs from the next one of its port and equals the next one of another, it came out of the
// wrong port.
func (q *txQueue) take(port int, data []byte) *expected {
	e := q.first(port, false)
	if e == nil || !bytes.Equal(e.data, data) {
		if other := q.first(port, true); other != nil && (e == nil || bytes.Equal(other.data, data)) {
			e = other
		}
	}
	if e == nil {
		return nil
	}
	e.out = true
	for q.head < len(q.expect) && (q.expect[q.head].out || q.expect[q.head].fail) {
		q.head++ // the NIC refuses such an entry, so no frame comes out
	}
	return e
}

// first returns the first frame that is expected from `port` or, if `elsewhere` is true, from any other port.
func (q *txQueue) first(port int, elsewhere bool) *expected {
	for i := q.head; i < len(q.expect); i++ {
		if e := &q.expect[i]; !e.out && !e.fail && (e.port != port) == elsewhere {
			return e
		}
	}
	return nil
}
