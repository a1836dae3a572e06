package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/scenarios/traffic/capture"
)

// SupplySpec describes the frames to play.
type SupplySpec struct {
	Captures []string // files, played one after the other on their port: file i on port i mod Ports
	Frames   [][]byte // played after those of the captures: frame i on port i mod Ports
	Ports    int      // number of ports; 0 means 1
	Loop     int      // number of passes
	Limit    int      // maximum number of frames of all captures in one pass; 0: all
	Pad      bool     // pad frames to the minimum length that a NIC must accept

	Name func(path string) string // returns the name of a capture for people; nil: its path

	Say func(text string) // receives notes for the user; nil: they are dropped
}

// Validate returns all errors of the spec, each a field.Error. It opens no file.
func (s *SupplySpec) Validate() error {
	var errs []error
	if s.Ports < 0 {
		errs = append(errs, field.Errorf("ports", "%d: want 1 or more", s.Ports))
	}
	if s.Loop < 1 {
		errs = append(errs, field.Errorf("loop", "%d: want 1 or more", s.Loop))
	}
	if s.Limit < 0 {
		errs = append(errs, field.Errorf("limit", "%d: want 0 (all) or more", s.Limit))
	}
	return errors.Join(errs...)
}

// Supply provides the frames of captures, and further frames. It keeps no packets of captures in memory: it reads the
// captures once beforehand, so that nothing is played if one is damaged, and again as they are played.
type Supply struct {
	Tally
	spec     SupplySpec
	captures []*capture.File
	parts    [][]part // frames of each port, in the order in which they are played
	opened   []io.Closer
}

// Tally holds what the first reading of the captures has counted.
type Tally struct {
	Frames    int // frames of a pass
	Longest   int // bytes of the longest frame
	LeftOut   int // packets left out because of Limit
	Truncated int // packets whose end was not captured
	Empty     int // packets without a byte
	Skipped   int // pcapng sections of an unknown version
	CutOff    []*capture.CutOff
	NotRead   []string // captures not read to their end because Limit was reached
}

// part holds consecutive frames of one port.
type part struct {
	file *capture.File // capture with the frames; nil: they are in field list
	list [][]byte
	n    int // number of frames of the capture, from its start on; at least one
}

// NewSupply reads the captures for the first time. It returns all errors. The caller must Close the supply even then.
func NewSupply(ctx context.Context, spec SupplySpec) (*Supply, error) {
	spec.Ports = cmp.Or(spec.Ports, 1)
	s := &Supply{spec: spec}
	if err := spec.Validate(); err != nil {
		return s, err
	}
	s.parts = make([][]part, spec.Ports)
	var errs []error
	for i, path := range spec.Captures {
		name := path
		if spec.Name != nil {
			name = spec.Name(path)
		}
		f, err := capture.OpenAs(ctx, path, name)
		if err == nil {
			s.opened = append(s.opened, f)
			err = s.add(f, i%spec.Ports)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	more := make([][][]byte, spec.Ports)
	for i, f := range spec.Frames {
		more[i%spec.Ports] = append(more[i%spec.Ports], f)
		s.counts(len(f))
	}
	for port, list := range more {
		if len(list) > 0 {
			s.parts[port] = append(s.parts[port], part{list: list, n: len(list)})
		}
	}
	if len(errs) == 0 && s.Frames == 0 {
		errs = append(errs, s.nothingToPlay())
	}
	return s, errors.Join(errs...)
}

// nothingToPlay returns the error about captures without a playable frame; it lists truncated captures.
func (s *Supply) nothingToPlay() error {
	errs := []error{errors.New("the captures hold no frame that could be played")}
	for _, c := range s.CutOff {
		errs = append(errs, errors.New(c.String()))
	}
	return errors.Join(errs...)
}

// add reads a capture for the first time and adds it to a port.
func (s *Supply) add(f *capture.File, port int) error {
	for _, o := range s.captures {
		if f.IsPipe() && f.Same(o) {
			return &capture.Error{Path: f.Path(), Offset: -1,
				Err: fmt.Errorf("is the same pipe as %s: a pipe can be read only once", o.Path())}
		}
	}
	s.captures = append(s.captures, f)
	if f.IsPipe() {
		if s.full() {
			s.NotRead = append(s.NotRead, f.Path())
			return nil
		}
		defer s.noticeSlow(f.Path())()
	}
	r, err := f.Packets()
	if err != nil {
		return err
	}
	n, err := s.count(f, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	s.Empty += r.Empty()
	s.Skipped += r.SkippedSections()
	if c := r.CutOff(); c != nil {
		s.CutOff = append(s.CutOff, c)
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

// count counts the packets of a capture, and returns the number of those to play.
func (s *Supply) count(f *capture.File, r *capture.Reader) (n int, _ error) {
	for {
		if s.full() && !f.Ends() {
			s.NotRead = append(s.NotRead, f.Path())
			return n, nil
		}
		p, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		case len(p.Data) > ether.MaxOffered:
			return n, tooLong(p)
		case s.full():
			s.LeftOut++
			continue
		case len(p.Data) < p.WireLen:
			s.Truncated++
		}
		s.counts(len(p.Data))
		n++
	}
}

func tooLong(p *capture.Packet) error {
	return &capture.Error{Path: p.File, Offset: p.Offset, Packet: p.Packet,
		Err: fmt.Errorf("%d bytes, at most %d can be played", len(p.Data), ether.MaxOffered)}
}

func (s *Supply) counts(size int) {
	s.Frames++
	s.Longest = max(s.Longest, size)
	if s.spec.Pad {
		s.Longest = max(s.Longest, nicspec.FrameMin)
	}
}

// full reports whether Limit has been reached.
func (s *Supply) full() bool { return s.spec.Limit > 0 && s.Frames >= s.spec.Limit }

// waitNotice is the time after which the user is notified that a pipe is being read.
const waitNotice = time.Second

// noticeSlow notifies the user that a pipe is being read, unless the returned function is called soon.
func (s *Supply) noticeSlow(path string) func() {
	t := time.AfterFunc(waitNotice, func() { s.say("reading %s until it ends: it is played then", path) })
	return func() { t.Stop() }
}

func (s *Supply) say(format string, a ...any) {
	if s.spec.Say != nil {
		s.spec.Say(fmt.Sprintf(format, a...))
	}
}

// Playlists returns a playlist for each port, with the passes of the spec.
func (s *Supply) Playlists() []*Playlist {
	lists := make([]*Playlist, len(s.parts))
	for port, parts := range s.parts {
		l := newPlaylist(parts, s.spec.Loop, s.spec.Pad)
		lists[port] = l
		s.opened = append(s.opened, l)
	}
	return lists
}

// Close closes the captures.
func (s *Supply) Close() error {
	var errs []error
	for i := range s.opened { // last first: the playlists, then the captures that they read
		errs = append(errs, s.opened[len(s.opened)-1-i].Close())
	}
	s.opened = nil
	return errors.Join(errs...)
}
