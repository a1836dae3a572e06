package memory

import "bytes"

// Store holds bytes that the device has read for a work entry, by offset: the frame of a Send in one slice; the
// source of a copy in pages, each kept only while some of its bytes are yet to be written.
type Store struct {
	Flat  []byte
	pages []*Page // pages of a copy's source; nil where no bytes are kept
	pool  *Pool[Page]
	paged bool
}

// Page holds 4 KB of a copy's source.
type Page struct {
	b    [dataPageBytes]byte
	kept int // number of bytes kept
}

const dataPageBytes = 4096

// Page prepares the store for a copy of n bytes.
func (s *Store) Page(n int, pages *Pool[Page]) {
	s.paged, s.pool = true, pages
	want := (n + dataPageBytes - 1) / dataPageBytes
	if cap(s.pages) < want {
		s.pages = make([]*Page, want)
	}
	s.pages = s.pages[:want]
}

// Free drops all bytes kept for a copy.
func (s *Store) Free() {
	for i, p := range s.pages {
		if p != nil {
			p.kept = 0
			s.pool.Put(p)
			s.pages[i] = nil
		}
	}
	s.paged, s.pages = false, s.pages[:0]
}

// Part returns the contiguous bytes from an offset on, n at most.
func (s *Store) Part(at, n int) []byte {
	if !s.paged {
		return s.Flat[at : at+n]
	}
	p := s.pages[at/dataPageBytes]
	at %= dataPageBytes
	return p.b[at:min(at+n, dataPageBytes)]
}

// Put stores bytes at an offset where none are kept.
func (s *Store) Put(at int, b []byte) {
	for len(b) > 0 {
		s.keep(at, len(b))
		n := copy(s.Part(at, len(b)), b)
		at, b = at+n, b[n:]
	}
}

// keep makes room for bytes at an offset.
func (s *Store) keep(at, n int) {
	if !s.paged {
		return
	}
	p := s.pages[at/dataPageBytes]
	if p == nil {
		p = s.pool.Get()
		s.pages[at/dataPageBytes] = p
	}
	p.kept += min(n, dataPageBytes-at%dataPageBytes)
}

// Drop forgets bytes that are kept.
func (s *Store) Drop(at, n int) {
	for s.paged && n > 0 {
		k := min(n, dataPageBytes-at%dataPageBytes)
		p := s.pages[at/dataPageBytes]
		if p.kept -= k; p.kept == 0 {
			s.pool.Put(p)
			s.pages[at/dataPageBytes] = nil
		}
		at, n = at+k, n-k
	}
}

// Differs returns the index of the first byte of b that differs from those kept from an offset on,
// len(b) if none does.
func (s *Store) Differs(at int, b []byte) int {
	for i := 0; i < len(b); {
		have := s.Part(at+i, len(b)-i)
		want := b[i : i+len(have)]
		if !bytes.Equal(have, want) {
			for k := range have {
				if have[k] != want[k] {
					return i + k
				}
			}
		}
		i += len(have)
	}
	return len(b)
}
