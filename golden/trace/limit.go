package trace

import (
	"bufio"
	"io"
)

// Cut reports how many of the observed records a file contains. A file is cut at the first record
// that does not fit its limit, so it contains everything that happened until then.
type Cut struct {
	Written uint64 `json:"written"`  // records that are in the file
	LeftOut uint64 `json:"left_out"` // records that are not in the file
}

// noticeBytes is reserved for the record that says how much is missing.
const noticeBytes = 512

// limited writes records until the first that does not fit.
type limited struct {
	w    *bufio.Writer
	left int64 // bytes that records may still take
	Cut
	first, last int64 // cycles or nanoseconds of the first and last record left out
	whole       int64 // bytes of whole records that are in the file
	file        io.Writer
	err         error
}

// newLimited returns a writer of at most limit bytes; 0 = no limit.
func newLimited(w io.Writer, limit int64) limited {
	left := limit - noticeBytes
	if limit == 0 {
		left = 1<<63 - 1
	}
	return limited{w: bufio.NewWriterSize(w, 1<<16), left: left, file: w}
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

// write writes b regardless of the limit. The file gets whole records only, so that it can be read whenever the program
// is killed.
func (l *limited) write(b []byte) {
	if len(b) > l.w.Available() {
		l.flush()
	}
	if l.err != nil {
		return
	}
	if _, l.err = l.w.Write(b); l.err == nil && l.w.Buffered() == 0 { // a long record bypasses the buffer
		l.whole += int64(len(b))
	}
	l.mend()
}

// flush writes the records in the buffer to the file.
func (l *limited) flush() {
	if l.err != nil {
		return
	}
	n := l.w.Buffered()
	if l.err = l.w.Flush(); l.err == nil {
		l.whole += int64(n)
	}
	l.mend()
}

// mend removes the record that is in the file in part because the disk is full. The first error remains the one to
// report.
func (l *limited) mend() {
	if l.err == nil {
		return
	}
	if file, ok := l.file.(interface{ Truncate(size int64) error }); ok {
		_ = file.Truncate(l.whole)
	}
}

// close flushes the writer and returns the first error.
func (l *limited) close() error {
	l.flush()
	return l.err
}
