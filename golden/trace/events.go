package trace

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"nictwin/models/nic/boundary"
)

// Events writes one line of JSON for each crossing of a NIC:
//
//	{"kind":"tlp_out","port":0,"n":17,"first":812,"last":813,"bytes":256,"crc32":"0badcafe","text":"MWr …"}
//
// n is the ordinal of the crossing among those of its kind on its port, from 0; for a received frame, n is the
// port_seq of the frame's completion entry. first and last are the cycles of the first and last beat, bytes the
// size of the frame or of the TLP's payload, and crc32 its CRC-32 (that of zlib; left out if there are no bytes). Sent
// frames also have queue, TLPs text (the decoded header). When the file's limit was reached, its last line says so,
// with the number of events that are missing and their cycles:
//
//	{"kind":"cut","events":1200,"first":90112,"last":97344,"text":"the file was cut at its limit"}
//
// Where NICs have names, each line has that of its NIC after the kind: "nic":"a".
type Events struct {
	log *Log
	nic []byte                      // `,"nic":"a"`, or empty
	n   [boundary.NumKinds][]uint64 // crossings by port
}

// Log writes the events of one or more NICs to one file.
type Log struct {
	out limited
	buf []byte
}

// NewLog begins a file of at most limit bytes; 0 = no limit.
func NewLog(w io.Writer, limit int64) *Log { return &Log{out: newLimited(w, limit)} }

// Of returns the writer of a NIC's events; the name is empty if there is only one NIC.
func (l *Log) Of(nic string) *Events {
	e := &Events{log: l}
	if nic != "" {
		e.nic = strconv.AppendQuoteToASCII([]byte(`,"nic":`), nic)
	}
	return e
}

var kindNames = [boundary.NumKinds]string{
	boundary.FrameIn: "frame_in", boundary.TLPIn: "tlp_in", boundary.FrameOut: "frame_out", boundary.TLPOut: "tlp_out",
}

// Observe writes one crossing. It is a boundary.Observer.
func (e *Events) Observe(c boundary.Crossing) {
	b := append(e.log.buf[:0], `{"kind":"`...)
	b = append(b, kindNames[c.Kind]...)
	b = append(b, '"')
	b = append(b, e.nic...)
	b = append(b, `,"port":`...)
	b = strconv.AppendInt(b, int64(c.Port), 10)
	b = append(b, `,"n":`...)
	b = strconv.AppendUint(b, e.ordinal(c.Kind, c.Port), 10)
	b = append(b, `,"first":`...)
	b = strconv.AppendInt(b, c.First, 10)
	b = append(b, `,"last":`...)
	b = strconv.AppendInt(b, c.Last, 10)
	b = append(b, `,"bytes":`...)
	if c.Kind.IsTLP() {
		b = appendPayload(b, c.TLP.Data)
		b = append(b, `,"text":`...)
		if h, err := c.TLP.Header(); err != nil {
			b = strconv.AppendQuoteToASCII(b, err.Error())
		} else {
			b = strconv.AppendQuoteToASCII(b, h.String())
		}
	} else {
		b = appendPayload(b, c.Frame.Data)
		if c.Kind == boundary.FrameOut {
			b = append(b, `,"queue":`...)
			b = strconv.AppendInt(b, int64(c.Frame.Queue), 10)
		}
	}
	e.log.buf = append(b, '}', '\n')
	e.log.out.record(e.log.buf, c.First, c.Last)
}

// ordinal counts the crossings of a kind on a port.
func (e *Events) ordinal(k boundary.Kind, port int) uint64 {
	for len(e.n[k]) <= port {
		e.n[k] = append(e.n[k], 0)
	}
	e.n[k][port]++
	return e.n[k][port] - 1
}

// appendPayload writes the length and the checksum of a payload.
func appendPayload(b, payload []byte) []byte {
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	if len(payload) > 0 {
		var sum [crc32.Size]byte
		binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE(payload))
		b = hex.AppendEncode(append(b, `,"crc32":"`...), sum[:])
		b = append(b, '"')
	}
	return b
}

// Cut reports how many of the observed records the file contains; see type Cut.
func (l *Log) Cut() Cut { return l.out.Cut }

// Close flushes the file and returns the first error.
func (l *Log) Close() error {
	if o := &l.out; o.LeftOut > 0 {
		o.write(fmt.Appendf(nil,
			`{"kind":"cut","events":%d,"first":%d,"last":%d,"text":"the file was cut at its limit"}`+"\n",
			o.LeftOut, o.first, o.last))
	}
	if err := l.out.close(); err != nil {
		return fmt.Errorf("trace: events: %w", err)
	}
	return nil
}

var _ boundary.Observer = (*Events)(nil).Observe
