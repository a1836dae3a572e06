package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/scenarios/device"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
)

// supply is the captures of a replay and the frames behind them. It holds none of their packets: they are read once before
// the replay, so that nothing is played of what is damaged, and again as they are played.
type supply struct {
	opts     *Options
	captures []*capture.File
	parts    [][]part // by port, in order
	opened   []io.Closer

	frames   int // of one pass
	longest  int // bytes of a frame
	cut      int // packets left out by Limit
	short    int // packets of which the file holds only the beginning
	empty    int // packets without a byte
	sections int // that were skipped
	cutOff   []*capture.CutOff
	notRead  []string // captures that were not read to their end, as Limit was reached
}

// part is frames that a port is given one after the other.
type part struct {
	file *capture.File // nil: they are in memory
	list [][]byte
	n    int // of the file, those at its begin; at least one
}

// newSupply reads the captures once. It returns every error. The caller must Close it in any case.
func newSupply(ctx context.Context, o *Options) (*supply, error) {
	s := &supply{opts: o, parts: make([][]part, o.Ports)}
	var errs []error
	for i, path := range o.Captures {
		f, err := capture.Open(ctx, path)
		if err == nil {
			s.opened = append(s.opened, f)
			err = s.add(f, i%o.Ports)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	more := make([][][]byte, o.Ports)
	for i, f := range o.Frames {
		more[i%o.Ports] = append(more[i%o.Ports], f)
		s.counts(len(f))
	}
	for port, list := range more {
		if len(list) > 0 {
			s.parts[port] = append(s.parts[port], part{list: list, n: len(list)})
		}
	}
	if len(errs) == 0 && s.frames == 0 {
		errs = append(errs, s.nothing())
	}
	return s, errors.Join(errs...)
}

// nothing says that there is nothing to be played, and what was cut off.
func (s *supply) nothing() error {
	errs := []error{errors.New("the captures hold no frame that could be played")}
	for _, c := range s.cutOff {
		errs = append(errs, errors.New(c.String()))
	}
	return errors.Join(errs...)
}

// add reads a capture once.
func (s *supply) add(f *capture.File, port int) error {
	for _, o := range s.captures {
		if f.IsPipe() && f.Same(o) {
			return &capture.Error{Path: f.Path(), Offset: -1, Err: fmt.Errorf("is the same pipe as %s: a pipe can be read only once", o.Path())}
		}
	}
	s.captures = append(s.captures, f)
	if f.IsPipe() {
		if s.full() {
			s.notRead = append(s.notRead, f.Path())
			return nil
		}
		defer s.tell(f.Path())()
	}
	r, err := f.Packets()
	if err != nil {
		return err
	}
	n, err := s.count(f, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	s.empty += r.Empty()
	s.sections += r.SkippedSections()
	if c := r.CutOff(); c != nil {
		s.cutOff = append(s.cutOff, c)
		s.say("%v; what is whole is played", c)
	}
	if r.Garbage() {
		s.say("%s: what follows the end of gzip is ignored", f.Path())
	}
	if n > 0 {
		s.parts[port] = append(s.parts[port], part{file: f, n: n})
	}
	return nil
}

// count counts the packets of a capture, and returns how many of them are played.
func (s *supply) count(f *capture.File, r *capture.Reader) (n int, _ error) {
	for {
		if s.full() && !f.Ends() {
			s.notRead = append(s.notRead, f.Path())
			return n, nil
		}
		p, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		case len(p.Data) > device.MaxFrame:
			return n, tooLong(p)
		case s.full():
			s.cut++
			continue
		case len(p.Data) < p.WireLen:
			s.short++
		}
		s.counts(len(p.Data))
		n++
	}
}

func tooLong(p *capture.Packet) error {
	return &capture.Error{Path: p.File, Offset: p.Offset, Packet: p.Packet,
		Err: fmt.Errorf("%d bytes, at most %d can be played", len(p.Data), device.MaxFrame)}
}

func (s *supply) counts(size int) {
	s.frames++
	s.longest = max(s.longest, size)
	if s.opts.Pad {
		s.longest = max(s.longest, nicspec.FrameMin)
	}
}

// full reports whether no more is to be played.
func (s *supply) full() bool { return s.opts.Limit > 0 && s.frames >= s.opts.Limit }

// waitTold is how long a pipe may be read before somebody is told what is being waited for.
const waitTold = time.Second

// tell says that a pipe is being read, should that take long; the result ends that.
func (s *supply) tell(path string) func() {
	t := time.AfterFunc(waitTold, func() { s.say("reading %s until it ends: it is played then", path) })
	return func() { t.Stop() }
}

func (s *supply) say(format string, a ...any) {
	if s.opts.Log != nil {
		fmt.Fprintf(s.opts.Log, "replay: "+format+"\n", a...)
	}
}

// streams are the frames of each port, so many times.
func (s *supply) streams() []*stream {
	list := make([]*stream, len(s.parts))
	for port, parts := range s.parts {
		list[port] = &stream{parts: parts, pad: s.opts.Pad}
		for _, p := range parts {
			list[port].pass += p.n
		}
		list[port].total = list[port].pass * s.opts.Loop
		list[port].room = keptBytes
		s.opened = append(s.opened, list[port])
	}
	return list
}

// Close ends reading.
func (s *supply) Close() error {
	var errs []error
	for i := range s.opened { // captures after those who read them
		errs = append(errs, s.opened[len(s.opened)-1-i].Close())
	}
	s.opened = nil
	return errors.Join(errs...)
}

// stream gives the frames of a port in order, pass after pass.
type stream struct {
	parts []part
	pad   bool
	pass  int // frames of one
	total int // of all
	given int
	at    int // part at hand
	done  int // frames of it that were given
	from  *capture.File
	r     *capture.Reader // of from
	kept  []traffic.Frame // of the first pass, for the others, if they take no more than keptBytes
	room  int             // that they may still take; negative: they take more
}

// keptBytes is what frames may take that are kept for the next pass: few frames are read more slowly than they are played.
const keptBytes = 4 << 20

// Total implements traffic.Source.
func (s *stream) Total() int { return s.total }

// Next implements traffic.Source.
func (s *stream) Next() (traffic.Frame, error) {
	if s.given == s.total {
		return traffic.Frame{}, io.EOF
	}
	n := s.given % s.pass
	s.given++
	if n < len(s.kept) && s.given > s.pass {
		return s.kept[n], nil
	}
	if s.done == s.parts[s.at].n {
		s.at, s.done = (s.at+1)%len(s.parts), 0
	}
	f, err := s.take(&s.parts[s.at])
	s.done++
	s.keep(f)
	return f, err
}

// keep keeps a frame of the first pass while there is room for all of them.
func (s *stream) keep(f traffic.Frame) {
	if s.room < 0 || s.total == s.pass {
		return
	}
	if s.room -= len(f.Data) + frameCost; s.room < 0 {
		s.kept = nil
		return
	}
	s.kept = append(s.kept, f)
}

// take takes the next frame of a part.
func (s *stream) take(p *part) (f traffic.Frame, err error) {
	if p.file == nil {
		return traffic.Frame{Data: padded(p.list[s.done], s.pad)}, nil
	}
	if s.done == 0 {
		if err := s.begin(p.file); err != nil {
			return f, err
		}
	}
	x, err := s.r.Next()
	if errors.Is(err, io.EOF) {
		return f, &capture.Error{Path: p.file.Path(), Offset: -1,
			Err: fmt.Errorf("has changed while it was played: it had %d frames or more, now it has %d", p.n, s.done)}
	}
	if err == nil && len(x.Data) > device.MaxFrame {
		err = tooLong(x)
	}
	if err != nil {
		return f, err
	}
	size := len(x.Data)
	if s.pad {
		size = max(size, nicspec.FrameMin)
	}
	f = traffic.Frame{Data: make([]byte, size), Interval: simcore.Ps(x.Interval), Origin: x.Origin}
	copy(f.Data, x.Data)
	return f, nil
}

// begin begins to read a capture from its start.
func (s *stream) begin(f *capture.File) (err error) {
	if s.from == f {
		return s.r.Rewind()
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s.r, err = f.Packets(); err == nil {
		s.from = f
	}
	return err
}

// Close ends reading.
func (s *stream) Close() error {
	if s.from == nil {
		return nil
	}
	s.from = nil
	return s.r.Close()
}

var _ traffic.Source = (*stream)(nil)

func padded(b []byte, on bool) []byte {
	if !on || len(b) >= nicspec.FrameMin {
		return b
	}
	return append(append(make([]byte, 0, nicspec.FrameMin), b...), make([]byte, nicspec.FrameMin-len(b))...)
}

// frame is a frame and the port that it belongs to.
type frame struct {
	traffic.Frame
	port int
}

// turns gives the frames of the ports in turn, as long as each has some, so that all ports are busy at once; pass after pass.
type turns struct {
	ports []*stream
	port  int   // whose turn it is
	given []int // frames of this pass, by port
	left  int   // of this pass
}

func newTurns(ports []*stream) *turns { return &turns{ports: ports, given: make([]int, len(ports))} }

// next returns the next frame, and io.EOF after the last.
func (t *turns) next() (frame, error) {
	if t.left == 0 {
		clear(t.given)
		t.port = 0
		for _, s := range t.ports {
			t.left += s.pass
		}
	}
	for t.given[t.port] == t.ports[t.port].pass {
		t.port = (t.port + 1) % len(t.ports)
	}
	p := t.port
	t.port = (p + 1) % len(t.ports)
	t.given[p]++
	t.left--
	f, err := t.ports[p].Next()
	return frame{f, p}, err
}
