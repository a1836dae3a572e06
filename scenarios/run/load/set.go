package load

import (
	"errors"

	"nictwin/models/board"
	"nictwin/models/memory/dram"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/stats"
)

// Set is the loads of a run.
type Set struct {
	list    List
	servers []Server
	loads   []running
	began   simcore.Ps
	ended   simcore.Ps
	over    bool
}

// running is a load: of a DRAM, of a cache, or of cores.
type running struct {
	hog     *dram.Hog
	walkers []*walker
	chaser  *chaser // nil: none
	takers  []*taker
}

// Open prepares the loads of a board that was made with List.AddTo.
func (l List) Open(rack *board.Rack, servers []Server) (*Set, error) {
	s := &Set{list: l, servers: servers, loads: make([]running, len(l))}
	for i := range l {
		x, r := &l[i], &s.loads[i]
		card := rack.Servers[x.Server].Cards[0]
		if x.At == DRAM {
			hogs := card.Memory.Loads(x.Of.endpoint())
			r.hog = hogs[len(hogs)-1-l.behind(i)]
			continue
		}
		open := s.seat
		if x.At == Cores {
			open = s.take
		}
		if err := open(card.Memory, i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// behind counts the loads that follow load i in the list and load a DRAM of the same memory.
func (l List) behind(i int) (n int) {
	for k := i + 1; k < len(l); k++ {
		if s := &l[k]; s.At == DRAM && s.Server == l[i].Server && s.Of == l[i].Of {
			n++
		}
	}
	return n
}

// seat puts the software of a load on its cores.
func (s *Set) seat(m *board.Memory, i int) error {
	x, r := &s.list[i], &s.loads[i]
	at, err := s.servers[x.Server].seat(s.list, i)
	if err != nil {
		return err
	}
	buffers := make([]buffer, len(at.cores))
	for k, number := range at.cores {
		core, err := m.Host(x.Of.endpoint()).Core(x.Socket, number)
		if err != nil {
			return err
		}
		buffers[k] = buffer{core: core.Core, base: at.base, lines: at.bytes / lineBytes}
	}
	if x.measures() {
		last := buffers[len(buffers)-1]
		last.base += (at.bytes + pageBytes - 1) &^ (pageBytes - 1)
		r.chaser = newChaser(last, x.Seed)
		buffers = buffers[:len(buffers)-1]
	}
	share := rate(x.Rate)
	share.Ps *= simcore.Ps(len(buffers))
	for k, b := range buffers {
		r.walkers = append(r.walkers, &walker{buffer: b, rate: share, stores: int(x.Stores*permille + 0.5),
			at: uint64(k) * b.lines / uint64(len(buffers))})
	}
	return nil
}

// take prepares a load of the cores that stack and applications use.
func (s *Set) take(m *board.Memory, i int) error {
	x, r := &s.list[i], &s.loads[i]
	for _, number := range s.servers[x.Server].used(x.Of) {
		core, err := m.Host(x.Of.endpoint()).Core(x.Socket, number)
		if err != nil {
			return err
		}
		r.takers = append(r.takers, &taker{core: core.Core})
	}
	return nil
}

// each calls f for the buffers of all cores, with their load.
func (s *Set) each(f func(load int, b *buffer)) {
	for i := range s.loads {
		for _, w := range s.loads[i].walkers {
			f(i, &w.buffer)
		}
		if c := s.loads[i].chaser; c != nil {
			f(i, &c.buffer)
		}
	}
}

// Warm reads the buffers of caches once, before the traffic. done reports whether that has ended.
func (s *Set) Warm() (done func() bool, err error) {
	var errs []error
	for i := range s.loads {
		if r := &s.loads[i]; len(r.walkers) > 0 {
			errs = append(errs, r.walkers[0].warm(inOrder)) // all walkers share one buffer
			if r.chaser != nil {
				errs = append(errs, r.chaser.warm(r.chaser.line))
			}
		}
	}
	return func() bool {
		warmed := true
		s.each(func(_ int, b *buffer) { warmed = warmed && b.warmed() })
		return warmed
	}, errors.Join(errs...)
}

// Begin starts the loads at time `now`, at which the traffic begins.
func (s *Set) Begin(now simcore.Ps) error {
	s.began = now
	var errs []error
	for i := range s.loads {
		r, x := &s.loads[i], &s.list[i]
		if r.hog != nil {
			r.hog.StartFrom(now)
			continue
		}
		from, to := x.Times(now)
		in := window{from: from, to: to}
		for _, w := range r.walkers {
			w.window = in
			errs = append(errs, w.begin())
		}
		if c := r.chaser; c != nil {
			c.window = in
			errs = append(errs, c.begin())
		}
		for _, t := range r.takers {
			t.window = in
			errs = append(errs, t.begin())
		}
	}
	return errors.Join(errs...)
}

// End ends the loads with the traffic, and returns the first error of their software.
func (s *Set) End(now simcore.Ps) error {
	if s.over {
		return nil
	}
	s.ended, s.over = now, true
	var errs []error
	for i := range s.loads {
		if h := s.loads[i].hog; h != nil {
			h.Stop()
		}
		for _, t := range s.loads[i].takers {
			t.stop()
		}
	}
	s.each(func(load int, b *buffer) {
		errs = append(errs, b.fail(load))
		b.stop()
	})
	return errors.Join(errs...)
}

// Rows returns the rates of the loads and the latencies that they measured. A nil Set has none.
func (s *Set) Rows() (list []stats.Load) {
	if s == nil {
		return nil
	}
	for i := range s.loads {
		r, x := &s.loads[i], &s.list[i]
		from, to := x.Within(s.ended - s.began)
		l := stats.Load{Load: i, Server: s.servers[x.Server].Spec.Name, At: string(x.At), Of: string(x.Of),
			Socket: x.Socket, From: int64(from), To: int64(to)}
		if r.hog != nil {
			l.Bytes = r.hog.Read + r.hog.Written
		}
		for _, w := range r.walkers {
			l.Bytes += w.n * lineBytes
		}
		if r.chaser != nil {
			l.Measure(&r.chaser.dist)
		}
		list = append(list, l)
	}
	return list
}
