package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/inject"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/stats"
	"nictwin/scenarios/traffic"
)

// Set is the open captures of a run.
type Set struct {
	list   List
	plays  []*play
	insert map[board.CardPort]*inject.Insert
	names  []string // names of the servers
	began  simcore.Ps
	ended  simcore.Ps
	over   bool
}

// play is a capture that is being played.
type play struct {
	spec   *Spec
	supply *traffic.Supply
	source traffic.Source
	cable  simcore.Rate
	base   simcore.Ps // time at which the play began; the spec's times count from it
	last   simcore.Ps // time at which the previous frame was due
	begun  bool

	frame []byte // the next frame, and when it is due
	due   simcore.Ps
	ended bool

	frames, bytes uint64 // frames that entered the cable, and their bytes
}

// Open opens the captures; beside resolves a path of the scenario. It reads each once, and returns every error with the
// path of its field. The caller must Close the Set even then.
func (l List) Open(ctx context.Context, beside func(string) string) (*Set, error) {
	s := &Set{list: l}
	var errs []error
	for i := range l {
		p, err := l[i].open(ctx, beside(l[i].Capture))
		if p != nil {
			s.plays = append(s.plays, p)
		}
		if err != nil {
			errs = append(errs, field.Errorf(path(i)+".capture", ": %w", err))
		}
	}
	return s, errors.Join(errs...)
}

func (s *Spec) open(ctx context.Context, file string) (*play, error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file: want a pcap or pcapng file", file)
	}
	passes := 1
	switch {
	case s.Repeat != nil:
		passes = *s.Repeat
	case s.Until != nil:
		passes = maxRepeat
	}
	x, err := traffic.NewSupply(ctx, traffic.SupplySpec{Captures: []string{file}, Loop: passes, Pad: true})
	p := &play{spec: s, supply: x}
	if err != nil {
		return p, err
	}
	p.source = x.Playlists()[0]
	return p, nil
}

// Close closes the captures.
func (s *Set) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, p := range s.plays {
		errs = append(errs, p.supply.Close())
	}
	return errors.Join(errs...)
}

// Begin begins to play now, when the traffic begins, on a board whose cables have an inject.Insert at List.Ports.
func (s *Set) Begin(now simcore.Ps, rack *board.Rack, spec *board.RackSpec) error {
	s.began, s.insert = now, map[board.CardPort]*inject.Insert{}
	for _, v := range rack.Servers {
		s.names = append(s.names, v.Name)
	}
	for _, at := range s.list.Ports() {
		x := insertAt(rack, at)
		if x == nil {
			return fmt.Errorf("background: no cable at port %d of card %d", at.Port, at.Card)
		}
		s.insert[at] = x
		feed := new(merged)
		for _, p := range s.plays {
			if p.spec.Server == at.Card && p.spec.Port == at.Port {
				p.base, p.cable = now, spec.Servers[at.Card].Cards[0].Eth.Rate
				feed.plays = append(feed.plays, p)
			}
		}
		x.Start(feed)
	}
	return nil
}

// insertAt returns the inject.Insert in the cable at a port; it adds frames that go to that port.
func insertAt(rack *board.Rack, at board.CardPort) *inject.Insert {
	port := rack.Cards()[at.Card].NIC.Eth(at.Port)
	for i := range rack.Cables {
		c := &rack.Cables[i]
		for end := range c.Ports {
			if c.Ports[end] == port {
				return c.Inserts[end]
			}
		}
	}
	return nil
}

// End stops all captures with the traffic.
func (s *Set) End(now simcore.Ps) {
	if s.over {
		return
	}
	s.ended, s.over = now, true
	for _, x := range s.insert {
		x.Stop()
	}
}

// Rows returns the number of frames that were played, and their rates. A nil Set has none.
func (s *Set) Rows() (list []stats.Background) {
	if s == nil {
		return nil
	}
	for i, p := range s.plays {
		x := p.spec
		from, to := x.Within(s.ended - s.began)
		list = append(list, stats.Background{Background: i, Server: s.names[x.Server], Port: x.Port, From: int64(from),
			To: int64(to), Frames: p.frames, Bytes: p.bytes, Passes: p.frames / uint64(p.pass())})
	}
	return list
}

// Counter counts the bytes of frames that entered a cable at a port from captures.
type Counter struct {
	Server string
	Port   int
	Bytes  func() uint64
}

// Counters returns a counter for each port of a board into which captures are played.
func (l List) Counters(rack *board.Rack) (list []Counter) {
	for _, at := range l.Ports() {
		if x := insertAt(rack, at); x != nil {
			list = append(list, Counter{rack.Servers[at.Card].Name, at.Port, func() uint64 { return x.Count().Bytes }})
		}
	}
	return list
}

// pass returns the number of frames of a pass.
func (p *play) pass() int { return max(p.supply.Frames, 1) }

// wire returns the time of a frame at a rate of the cable; the zero rate takes none.
func wire(n int, r simcore.Rate) simcore.Ps {
	if r == (simcore.Rate{}) {
		return 0
	}
	return simcore.Ps(int64(n+ether.WireOverhead) * int64(r.Ps) / r.Bytes)
}

// fetch takes the next frame of the capture, unless one is there already or the capture has ended.
func (p *play) fetch() error {
	if p.frame != nil || p.ended {
		return nil
	}
	f, err := p.source.Next()
	if errors.Is(err, io.EOF) {
		p.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	from, to := p.spec.Times(p.base)
	switch {
	case !p.begun:
		p.due = from
	case p.spec.Rate != nil:
		const bits = 8 * int64(simcore.Second)
		p.due = p.last + simcore.Ps(int64(len(f.Data)+ether.WireOverhead)*(bits/1000)/(int64(*p.spec.Rate)/1000))
	default:
		p.due = p.last + max(f.Interval, wire(len(f.Data), p.cable), 1)
	}
	p.begun, p.last = true, p.due
	if to != 0 && p.due >= to {
		p.ended = true
		return nil
	}
	p.frame = f.Data
	return nil
}

// merged is the feed of a port: the frames of several captures in the order of their times.
type merged struct {
	plays []*play
	taken *play // capture whose frame Next returned last; nil: none
	bytes int   // length of that frame
}

// Next implements inject.Feed. When it is called, the previous frame has entered the cable.
func (m *merged) Next() (frame []byte, due simcore.Ps, err error) {
	if p := m.taken; p != nil {
		p.frames, p.bytes = p.frames+1, p.bytes+uint64(m.bytes)
	}
	m.taken = nil
	var first *play
	for _, p := range m.plays {
		if err := p.fetch(); err != nil {
			return nil, 0, err
		}
		if p.frame != nil && (first == nil || p.due < first.due) {
			first = p
		}
	}
	if first == nil {
		return nil, 0, io.EOF
	}
	frame, due = first.frame, first.due
	first.frame = nil
	m.taken, m.bytes = first, len(frame)
	return frame, due, nil
}

var _ inject.Feed = (*merged)(nil)
