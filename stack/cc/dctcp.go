package cc

import (
	"errors"

	"nictwin/models/sim/field"
)

// DCTCPSpec holds the constants of DCTCP.
type DCTCPSpec struct {
	// Segment is the number of bytes by which the window grows per round trip: the path MTU, or the longest packet of a
	// flow of stack/rpc.
	Segment int64 `yaml:"segment" unit:"bytes"`

	// Initial is the initial window in segments: 10 (RFC 6928).
	Initial int64 `yaml:"initial_segments"`

	// MaxSegments is the largest window, in segments: assumption (in TCP the receiver's window limits it).
	MaxSegments int64 `yaml:"most_segments"`

	// GainInverse is 1/g of the moving average of marks, g = 1/16 (DCTCP 3.4; RFC 8257, 4.2).
	GainInverse int64 `yaml:"gain_inverse"`
}

// DefaultDCTCP returns the published settings for segments of the given length.
func DefaultDCTCP(segment int64) DCTCPSpec {
	return DCTCPSpec{Segment: segment, Initial: 10, MaxSegments: 1 << 14, GainInverse: 16}
}

// Validate returns every error of the spec.
func (s DCTCPSpec) Validate() error {
	const largest = 1 << 30
	err := atLeast(bound{"segment", s.Segment, 1}, bound{"initial_segments", s.Initial, 1},
		bound{"most_segments", s.MaxSegments, 1},
		bound{"gain_inverse", s.GainInverse, 1})
	if s.Initial > s.MaxSegments {
		err = errors.Join(err, field.Errorf("initial_segments", "%d: want %d at most, %v", s.Initial, s.MaxSegments,
			field.Path("most_segments")))
	}
	if s.Segment > largest || s.MaxSegments > largest {
		err = errors.Join(err, field.Errorf("most_segments", "%d segments of %d B: want 2^30 of 2^30 B at most",
			s.MaxSegments, s.Segment))
	}
	return err
}

// DCTCP is the sender of a flow (DCTCP 3.2). The window grows as TCP's does, and only if the flow makes use of it (RFC
// 7661): a window that others than the network limit would grow without bound, so that marks did nothing for long.
type DCTCP struct {
	spec      DCTCPSpec
	window    int64
	threshold int64 // slow start threshold in bytes
	credit    int64 // bytes acknowledged towards growing the window by a segment
	alpha     fraction

	sent, acked int64 // bytes sent, and bytes acknowledged, since the flow began
	windowEnd   int64 // acknowledged bytes at which alpha is updated
	inWindow    int64 // bytes acknowledged in this window
	marked      int64 // bytes of inWindow whose packets were marked
	cutEnd      int64 // acknowledged bytes at which the window may be cut again
	most        int64 // most bytes under way in a window of data
	mostEnd     int64 // acknowledged bytes at which that window ends
	largest     int64 // most bytes in one call of Sent in that window
}

// NewDCTCP returns the controller of a flow. Alpha starts at 1, so that the first mark halves the window (RFC 8257,
// 3.3).
func NewDCTCP(s DCTCPSpec) (*DCTCP, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &DCTCP{spec: s, window: s.Initial * s.Segment, threshold: s.MaxSegments * s.Segment, alpha: one,
		windowEnd: -1, cutEnd: -1}, nil
}

// Rate implements Controller.
func (d *DCTCP) Rate() Bps { return Unlimited }

// Window implements Controller.
func (d *DCTCP) Window() int64 { return d.window }

// Alpha returns the estimated fraction of marked bytes, in units of 2^-32.
func (d *DCTCP) Alpha() uint64 { return uint64(d.alpha) }

// Sent implements Controller.
func (d *DCTCP) Sent(_ Ps, bytes int) {
	d.sent += int64(bytes)
	if d.windowEnd < 0 {
		d.windowEnd = d.sent
	}
	if d.acked >= d.mostEnd {
		d.most, d.largest = 0, 0
	}
	d.largest = max(d.largest, int64(bytes))
	if n := d.sent - d.acked; n > d.most {
		d.most, d.mostEnd = n, d.sent
	}
}

// Acked implements Controller.
func (d *DCTCP) Acked(_ Ps, bytes int, marked bool) {
	n := int64(bytes)
	d.acked += n
	d.inWindow += n
	if marked {
		d.marked += n
	}
	if d.acked >= d.windowEnd && d.inWindow > 0 {
		g := fraction(d.spec.GainInverse)
		d.alpha += ratio(d.marked, d.inWindow)/g - d.alpha/g // RFC 8257, 3.3
		d.windowEnd, d.inWindow, d.marked = d.sent, 0, 0
	}
	if marked {
		d.cut(d.window - (d.alpha / 2).of(d.window))
	} else {
		d.grow(n)
	}
}

// cut lowers the window to a number of bytes, once per window of data.
func (d *DCTCP) cut(to int64) {
	if d.acked < d.cutEnd {
		return
	}
	d.cutEnd = d.sent
	d.window = max(to, d.spec.Segment)
	d.threshold, d.credit = d.window, 0
}

// grow raises the window by the acknowledged bytes, or by one segment per window (RFC 5681, 3.1). If the flow does not
// fill its window, so that what it sends at a time (a packet, the answer to a READ) would have fitted in as well, slow
// start goes on to twice what was under way, as in Linux, and the window stays as it is else.
func (d *DCTCP) grow(n int64) {
	slow := d.window < d.threshold
	if d.most+max(d.spec.Segment, d.largest) <= d.window && !(slow && d.window < 2*d.most) {
		return
	}
	if slow {
		d.window += min(n, d.spec.Segment)
	} else if d.credit += n; d.credit >= d.window {
		d.credit -= d.window
		d.window += d.spec.Segment
	}
	d.window = min(d.window, d.spec.MaxSegments*d.spec.Segment)
}

// Lost implements Controller (RFC 8257, 3.5: as in TCP; RFC 5681, 3.1).
func (d *DCTCP) Lost(_ Ps, bytes int, timeout bool) {
	d.sent = max(d.sent-int64(bytes), d.acked)
	d.windowEnd, d.cutEnd, d.mostEnd = min(d.windowEnd, d.sent), min(d.cutEnd, d.sent), min(d.mostEnd, d.sent)
	if !timeout {
		d.cut(d.window / 2)
		return
	}
	d.threshold = max(d.window/2, 2*d.spec.Segment)
	d.window, d.credit, d.cutEnd = d.spec.Segment, 0, d.sent
}

// Notified implements Controller; DCTCP uses marks in acknowledgements instead.
func (d *DCTCP) Notified(Ps) {}

// Next implements Controller.
func (d *DCTCP) Next() Ps { return Never }

// Tick implements Controller.
func (d *DCTCP) Tick(Ps) {}
