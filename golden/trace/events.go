package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"nictwin/models/boundary"
)

// Events writes one line of JSON for each crossing:
//
//	{"kind":"tlp_out","port":0,"first":812,"last":813,"bytes":256,"text":"MWr …"}
//
// first and last are the cycles of the first and last beat, bytes the frame or TLP payload; queue is there for frames
// out, text (the decoded header) for TLPs.
type Events struct {
	w   *bufio.Writer
	buf []byte
	err error
}

// NewEvents begins a log.
func NewEvents(w io.Writer) *Events {
	return &Events{w: bufio.NewWriterSize(w, 1<<16)}
}

var kindNames = [boundary.NumKinds]string{
	boundary.FrameIn: "frame_in", boundary.TLPIn: "tlp_in", boundary.FrameOut: "frame_out", boundary.TLPOut: "tlp_out",
}

// Observe is a boundary.Observer.
func (e *Events) Observe(c boundary.Crossing) {
	b := append(e.buf[:0], `{"kind":"`...)
	b = append(b, kindNames[c.Kind]...)
	b = append(b, `","port":`...)
	b = strconv.AppendInt(b, int64(c.Port), 10)
	b = append(b, `,"first":`...)
	b = strconv.AppendInt(b, c.First, 10)
	b = append(b, `,"last":`...)
	b = strconv.AppendInt(b, c.Last, 10)
	b = append(b, `,"bytes":`...)
	if c.Kind.IsTLP() {
		b = strconv.AppendInt(b, int64(len(c.TLP.Data)), 10)
		b = append(b, `,"text":`...)
		if h, err := c.TLP.Header(); err != nil {
			b = strconv.AppendQuoteToASCII(b, err.Error())
		} else {
			b = strconv.AppendQuoteToASCII(b, h.String())
		}
	} else {
		b = strconv.AppendInt(b, int64(len(c.Frame.Data)), 10)
		if c.Kind == boundary.FrameOut {
			b = append(b, `,"queue":`...)
			b = strconv.AppendInt(b, int64(c.Frame.Queue), 10)
		}
	}
	e.buf = append(b, '}', '\n')
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
}

// Close writes what is left and returns the first error.
func (e *Events) Close() error {
	if err := e.w.Flush(); e.err == nil {
		e.err = err
	}
	if e.err != nil {
		return fmt.Errorf("trace: events: %w", e.err)
	}
	return nil
}

var _ boundary.Observer = (*Events)(nil).Observe
