package trace

import (
	"bufio"
	"io"
)

// Cut reports how many of the observed records a file contains. A file is cut at the first record
// that does not fit its limit, so it contains everything that happened until then.
type Cut struct {
	Written uint64 `json:"written"`  // records
	LeftOut uint64 `json:"left_out"` // records that came after them
}

// noticeBytes is reserved for the record that says how much is missing.
const noticeBytes = 512

// limited writes records until the first that does not fit.
type limited struct {
	w    *bufio.Writer
	left int64 // bytes that records may still take
	Cut
	first, last int64 // cycles or nanoseconds of the first and last record left out
	err         error
}

// newLimited returns a writer of at most limit bytes; 0 = no limit.
func newLimited(w io.Writer, limit int64) limited {
	left := limit - noticeBytes
	if limit == 0 {
		left = 1<<63 - 1
	}
	return limited{w: bufio.NewWriterSize(w, 1<<16), left: left}
}

// record writes b, which covers the time from first to last, or counts it as left out.
func (l *limited) record(b []byte, first, last int64) {
	if l.LeftOut > 0 || int64(len(b)) > l.left {
		if l.LeftOut == 0 {
			l.first = first
		}
		l.last = last
		l.LeftOut++
		return
	}
	l.Written++
	l.left -= int64(len(b))
	l.write(b)
}

// write writes b regardless of the limit.
func (l *limited) write(b []byte) {
	if l.err == nil {
		_, l.err = l.w.Write(b)
	}
}

// close flushes the writer and returns the first error.
func (l *limited) close() error {
	if err := l.w.Flush(); l.err == nil {
		l.err = err
	}
	return l.err
}
