package mem

import (
	"fmt"
	"slices"
	"sort"
)

// Watches calls functions after writes to address ranges. The zero value watches no range.
type Watches struct {
	list    []*watcher // sorted by address; replaced as a whole on changes, because callbacks may add and stop watches
	onWrite []func(addr uint64, n int)
}

type watcher struct {
	from, to uint64
	f        func(addr uint64, n int)
	stopped  bool
}

// Watch calls f after every write access that touches the n bytes at addr, with the range that was
// written. Ranges must not be empty or overlap. stop ends the watch; f may call it.
func (s *Watches) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	if n <= 0 || addr+uint64(n) < addr {
		return nil, fmt.Errorf("mem: watch of %d B at %#x: want a range that is not empty and does not wrap", n, addr)
	}
	w := &watcher{from: addr, to: addr + uint64(n), f: f}
	i := s.first(addr)
	if i < len(s.list) && s.list[i].from < w.to {
		return nil, fmt.Errorf("mem: watch of %#x..%#x overlaps %#x..%#x", w.from, w.to, s.list[i].from, s.list[i].to)
	}
	s.list = slices.Insert(slices.Clone(s.list), i, w)
	return func() {
		w.stopped = true
		if i := slices.Index(s.list, w); i >= 0 {
			s.list = slices.Delete(slices.Clone(s.list), i, i+1)
		}
	}, nil
}

// WatchIn is Watch for a range that must lie inside memory m.
func (s *Watches) WatchIn(m Target, addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	if n > 0 && addr+uint64(n) >= addr {
		if err := m.Check(Read, addr, n); err != nil {
			return nil, fmt.Errorf("mem: watch of %d B at %#x: %w", n, addr, err)
		}
	}
	return s.Watch(addr, n, f)
}

// OnWrite calls f after every write access to any address, before the watchers. It is for caches,
// which must drop their copy.
func (s *Watches) OnWrite(f func(addr uint64, n int)) { s.onWrite = append(s.onWrite, f) }

// first returns the index of the first watcher whose range ends after an address.
func (s *Watches) first(addr uint64) int {
	return sort.Search(len(s.list), func(i int) bool { return s.list[i].to > addr })
}

// Notify calls the functions given to OnWrite, and those that watch any of the n bytes at addr,
// which were written.
func (s *Watches) Notify(addr uint64, n int) {
	if n == 0 {
		return // an empty write touches no byte
	}
	for _, f := range s.onWrite {
		f(addr, n)
	}
	if len(s.list) == 0 {
		return
	}
	list := s.list[s.first(addr):]
	for _, w := range list {
		if w.from >= addr+uint64(n) {
			return
		}
		if !w.stopped {
			w.f(addr, n)
		}
	}
}
