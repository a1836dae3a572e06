package replay

import (
	"bytes"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
)

// inFlight holds the frames of a port that went in and may still be delivered. The NIC may have dropped a frame, so
// only the latest inFlightBytes are kept: twice what the referee keeps, and far more than a NIC can hold.
type inFlight struct {
	frames []traffic.Frame // without data: no longer in flight
	base   int             // ordinal of frames[0]
	head   int             // frames at the beginning that are no longer in flight
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

// origin returns where a frame was captured, while that is known.
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

// trim releases the leading frames that are no longer in flight, once they are half of all.
func (w *inFlight) trim() {
	if w.head > 64 && w.head > len(w.frames)/2 {
		n := copy(w.frames, w.frames[w.head:])
		clear(w.frames[n:])
		w.frames, w.base, w.head = w.frames[:n], w.base+w.head, 0
	}
}

// take removes and returns the expected frame that matches one received from a port; nil if none is expected. Cables
// of two ports may reorder the frames of one queue, which is for the referee to judge ([T1]); those of one port
// arrive in order. A frame that is the next one of the other port came out of the wrong port.
func (q *txQueue) take(port int, data []byte) *expected {
	e := q.first(port, true)
	if e == nil || !bytes.Equal(e.data, data) {
		if other := q.first(port, false); other != nil && (e == nil || bytes.Equal(other.data, data)) {
			e = other
		}
	}
	if e == nil {
		return nil
	}
	e.out = true
	for q.head < len(q.expect) && (q.expect[q.head].out || q.expect[q.head].fail) {
		q.head++ // refused: nothing comes out
	}
	return e
}

// first returns the first frame expected from a port, or from any port but that.
func (q *txQueue) first(port int, that bool) *expected {
	for i := q.head; i < len(q.expect); i++ {
		if e := &q.expect[i]; !e.out && !e.fail && (e.port == port) == that {
			return e
		}
	}
	return nil
}
