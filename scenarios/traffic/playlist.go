package traffic

import (
	"errors"
	"fmt"
	"io"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/traffic/capture"
)

// Playlist is the Source of the frames of one port, pass after pass.
type Playlist struct {
	parts []part
	pad   bool
	pass  int // frames of one pass
	total int // frames of all passes
	given int
	at    int           // index of the current part
	done  int           // frames returned so far of the current part
	from  *capture.File // file being read
	r     *capture.Reader
	kept  []Frame // frames of the first pass, which later passes repeat; nil if they exceed keptBytes
	room  int     // bytes of keptBytes not used yet; negative: the first pass does not fit
}

func newPlaylist(parts []part, loop int, pad bool) *Playlist {
	l := &Playlist{parts: parts, pad: pad, room: keptBytes}
	for _, p := range parts {
		l.pass += p.n
	}
	l.total = l.pass * loop
	return l
}

// FrameCost is the memory that a frame takes in addition to its data, in bytes.
const FrameCost = 128

// Pass returns the number of frames of one pass.
func (l *Playlist) Pass() int { return l.pass }

// keptBytes limits the memory for the frames of a pass. A pass that fits is kept, because reading its few frames again
// takes longer than playing them.
const keptBytes = 4 << 20

// Total returns the number of frames of all passes (Source).
func (l *Playlist) Total() int { return l.total }

// Next returns the next frame (Source).
func (l *Playlist) Next() (Frame, error) {
	if l.given == l.total {
		return Frame{}, io.EOF
	}
	n := l.given % l.pass
	l.given++
	if n < len(l.kept) && l.given > l.pass {
		return l.kept[n], nil
	}
	if l.done == l.parts[l.at].n {
		l.at, l.done = (l.at+1)%len(l.parts), 0
	}
	f, err := l.take(&l.parts[l.at])
	l.done++
	l.keep(f)
	return f, err
}

// keep keeps a frame of the first pass, as long as all of them fit.
func (l *Playlist) keep(f Frame) {
	if l.room < 0 || l.total == l.pass {
		return
	}
	if l.room -= len(f.Data) + FrameCost; l.room < 0 {
		l.kept = nil
		return
	}
	l.kept = append(l.kept, f)
}

// take returns the next frame of a part of the playlist: a capture, or a list of frames.
func (l *Playlist) take(p *part) (f Frame, err error) {
	if p.file == nil {
		return Frame{Data: padded(p.list[l.done], l.pad)}, nil
	}
	if l.done == 0 {
		if err := l.begin(p.file); err != nil {
			return f, err
		}
	}
	x, err := l.r.Next()
	if errors.Is(err, io.EOF) {
		return f, &capture.Error{Path: p.file.Path(), Offset: -1,
			Err: fmt.Errorf("has changed while it was played: it had %d frames or more, now it has %d", p.n, l.done)}
	}
	if err == nil && len(x.Data) > ether.MaxOffered {
		err = tooLong(x)
	}
	if err != nil {
		return f, err
	}
	size := len(x.Data)
	if l.pad {
		size = max(size, nicspec.FrameMin)
	}
	f = Frame{Data: make([]byte, size), Interval: simcore.Ps(x.Interval), Origin: x.Origin}
	copy(f.Data, x.Data)
	return f, nil
}

// begin starts reading a capture.
func (l *Playlist) begin(f *capture.File) (err error) {
	if l.from == f {
		return l.r.Rewind()
	}
	if err := l.Close(); err != nil {
		return err
	}
	if l.r, err = f.Packets(); err == nil {
		l.from = f
	}
	return err
}

// Close closes the capture that is being read.
func (l *Playlist) Close() error {
	if l.from == nil {
		return nil
	}
	l.from = nil
	return l.r.Close()
}

var _ Source = (*Playlist)(nil)

func padded(b []byte, on bool) []byte {
	if !on || len(b) >= nicspec.FrameMin {
		return b
	}
	return append(append(make([]byte, 0, nicspec.FrameMin), b...), make([]byte, nicspec.FrameMin-len(b))...)
}
