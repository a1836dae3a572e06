package judge

import (
	"math/bits"

	"nictwin/golden"
)

// Latency is the distribution of one of the NIC's latencies over the compared frames, in its cycles.
type Latency struct {
	NIC   string       `json:"nic,omitempty"` // its name, if NICs have names
	Path  string       `json:"path"`          // rx or tx
	Count uint64       `json:"count"`         // frames
	Min   int64        `json:"min"`
	Max   int64        `json:"max"`
	Bins  []LatencyBin `json:"bins"` // those with frames, ascending
}

// LatencyBin counts the frames whose latency lies in an interval of cycles.
type LatencyBin struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"` // inclusive
	Count uint64 `json:"count"`
}

// Quantile returns an upper bound of the latency of this share of the frames, within the width of a bin.
func (l *Latency) Quantile(share float64) int64 {
	seen := uint64(0)
	for _, b := range l.Bins {
		if seen += b.Count; float64(seen) >= share*float64(l.Count) {
			return min(b.To, l.Max)
		}
	}
	return l.Max
}

// Add adds the frames of another distribution of the same path.
func (l *Latency) Add(o *Latency) {
	if o.Count == 0 {
		return
	}
	if l.Count == 0 {
		l.Min, l.Max = o.Min, o.Max
	}
	l.Count, l.Min, l.Max = l.Count+o.Count, min(l.Min, o.Min), max(l.Max, o.Max)
	var bins []LatencyBin
	a, b := l.Bins, o.Bins
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].From < b[0].From:
			bins, a = append(bins, a[0]), a[1:]
		case len(a) == 0 || b[0].From < a[0].From:
			bins, b = append(bins, b[0]), b[1:]
		default:
			bins = append(bins, LatencyBin{a[0].From, a[0].To, a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	l.Bins = bins
}

// Bins: one for each latency below 1<<octaveBits cycles, then 1<<octaveBits in each octave.
const (
	octaveBits = 3
	latencies  = (64 - octaveBits + 1) << octaveBits
)

// histogram counts latencies.
type histogram struct {
	count    uint64
	min, max int64
	bins     [latencies]uint64
}

// binOf returns the bin of a latency.
func binOf(v int64) int {
	shift := max(bits.Len64(uint64(v))-octaveBits-1, 0)
	return shift<<octaveBits + int(v>>shift)
}

// boundsOf returns the latencies in a bin, both inclusive.
func boundsOf(bin int) (from, to int64) {
	shift := max(bin>>octaveBits-1, 0)
	from = int64(bin-shift<<octaveBits) << shift
	return from, from + 1<<shift - 1
}

func (h *histogram) add(v int64) {
	if v < 0 {
		return
	}
	if h.count == 0 {
		h.min = v
	}
	h.count, h.min, h.max = h.count+1, min(h.min, v), max(h.max, v)
	h.bins[binOf(v)]++
}

// observeLatency counts the latency of a compared frame, if it is known when the frame began.
func (j *Judge) observeLatency(e *golden.FrameEvent) {
	h := &j.tx
	if e.Rx {
		h = &j.rx
	}
	if e.Known {
		h.add(e.Cycle - e.Since)
	}
}

// Latencies returns the latencies of the compared frames: for rx from a frame's last beat to the last beat of its
// completion entry, for tx from the arrival of a work entry to the last beat of its frame. A Judge without a log
// measures none.
func (j *Judge) Latencies() (list []Latency) {
	for _, x := range []struct {
		path string
		h    *histogram
	}{{"rx", &j.rx}, {"tx", &j.tx}} {
		if x.h.count == 0 {
			continue
		}
		l := Latency{NIC: j.Name, Path: x.path, Count: x.h.count, Min: x.h.min, Max: x.h.max}
		for i, n := range x.h.bins {
			if n > 0 {
				from, to := boundsOf(i)
				l.Bins = append(l.Bins, LatencyBin{from, to, n})
			}
		}
		list = append(list, l)
	}
	return list
}
