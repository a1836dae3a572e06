package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
)

// frameHead is the size of an answer's head in bytes: the nonce of the run, and the length of the gob-encoded rest.
// Bytes that something else has written into the channel lack the nonce.
const frameHead = 16

// MaxAnswer is the largest size of an answer, in bytes.
const MaxAnswer = 1 << 31

// writer frames and sends answers.
type writer struct {
	to  io.Writer
	buf bytes.Buffer
	enc *gob.Encoder
}

func newWriter(to io.Writer) *writer {
	w := &writer{to: to}
	w.enc = gob.NewEncoder(&w.buf)
	return w
}

func (w *writer) send(nonce uint64, a *Answer) error {
	w.buf.Reset()
	w.buf.Write(make([]byte, frameHead)) // room for the head; a write to a buffer never fails
	if err := w.enc.Encode(a); err != nil {
		return err
	}
	b := w.buf.Bytes()
	binary.LittleEndian.PutUint64(b, nonce)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-frameHead))
	_, err := w.to.Write(b)
	return err
}

// Reader receives framed answers.
type Reader struct {
	from  io.Reader
	nonce uint64
	buf   bytes.Buffer
	dec   *gob.Decoder
}

// NewReader returns a Reader for the answers of the run with this nonce.
func NewReader(from io.Reader, nonce uint64) *Reader {
	r := &Reader{from: from, nonce: nonce}
	r.dec = gob.NewDecoder(&r.buf)
	return r
}

// FrameError reports bytes in the channel that are not an answer of the run.
type FrameError struct{ What string }

func (e *FrameError) Error() string { return e.What }

// Receive returns the next answer. Its errors are *FrameError, and those of the channel.
func (r *Reader) Receive() (*Answer, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[8:])
	if binary.LittleEndian.Uint64(head[:]) != r.nonce || n > MaxAnswer {
		return nil, &FrameError{fmt.Sprintf("it begins with % x", head)}
	}
	r.buf.Reset()
	if _, err := io.CopyN(&r.buf, r.from, int64(n)); err != nil {
		return nil, err
	}
	a := &Answer{}
	if err := r.dec.Decode(a); err != nil {
		return nil, &FrameError{err.Error()}
	}
	return a, nil
}
