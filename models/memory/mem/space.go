package mem

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// MaxBytes is the largest memory of one endpoint: the range of a bus address's offset part [P1].
const MaxBytes = 1 << nicspec.EndpointShift

// Space is the memory of both endpoints by bus address, with watches on its ranges.
type Space struct {
	Watches
	Stray int // number of writes outside memory

	mem [2]*Sparse // by endpoint
}

// Split returns the endpoint and the offset of a bus address. [P1]
func Split(bus uint64) (endpoint int, offset uint64) {
	return int(bus >> nicspec.EndpointShift), bus & (MaxBytes - 1)
}

// Bus returns the bus address of an endpoint's offset. [P1]
func Bus(endpoint int, offset uint64) uint64 {
	return uint64(endpoint)<<nicspec.EndpointShift | offset
}

// NewSpace returns a space whose endpoints have the given sizes, from offset 0 on.
func NewSpace(armBytes, hostBytes uint64) (*Space, error) {
	s := new(Space)
	for ep, n := range [...]uint64{nicspec.EndpointArm: armBytes, nicspec.EndpointHost: hostBytes} {
		if n == 0 || n > MaxBytes {
			return nil, fmt.Errorf("mem: endpoint %d has %d B: want 1 to 2^%d", ep, n, nicspec.EndpointShift)
		}
		s.mem[ep] = NewSparse(n)
	}
	return s, nil
}

// Bytes returns the size of an endpoint's memory.
func (s *Space) Bytes(endpoint int) uint64 { return s.mem[endpoint].size }

// find returns the memory that contains n bytes at a bus address, and their offset in it. For other
// addresses it returns an error with the reason.
func (s *Space) find(op Op, bus uint64, n int) (*Sparse, uint64, error) {
	ep, off := Split(bus)
	if ep >= len(s.mem) {
		return nil, 0, &RangeError{op, bus, n, fmt.Sprintf("endpoint %d has none", ep)}
	}
	if m := s.mem[ep]; m.Has(off, n) {
		return m, off, nil
	}
	return nil, 0, &RangeError{op, bus, n, fmt.Sprintf("endpoint %d has %#x B", ep, s.mem[ep].size)}
}

// Check implements Target.
func (s *Space) Check(op Op, bus uint64, n int) error {
	_, _, err := s.find(op, bus, n)
	return err
}

// Access implements Target: it completes at once. Watchers of the bytes are called before a write
// is Done. There is no cache, so Clean and Invalidate do nothing.
func (s *Space) Access(a *Access) {
	m, off, err := s.find(a.Op, a.Addr, a.Len())
	switch {
	case err != nil:
		if a.Op == Write {
			s.Stray++
		}
	case a.Op == Write:
		m.Write(off, a.Data)
		s.Notify(a.Addr, len(a.Data))
	case a.Op == Read:
		m.Read(off, a.Data)
	}
	a.Finish(err)
}

// Write stores b at a bus address at once, without calling watchers: it is for preparing memory,
// not for initiators on the bus.
func (s *Space) Write(bus uint64, b []byte) error {
	m, off, err := s.find(Write, bus, len(b))
	if err == nil {
		m.Write(off, b)
	}
	return err
}

// Read fills b from a bus address, in no simulated time.
func (s *Space) Read(bus uint64, b []byte) error {
	m, off, err := s.find(Read, bus, len(b))
	if err == nil {
		m.Read(off, b)
	}
	return err
}

// Watch calls f after every write access that touches the n bytes at a bus address, with the range
// written. Ranges must lie in memory, and must not be empty or overlap. stop ends it; f may call
// stop.
func (s *Space) Watch(bus uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return s.Watches.WatchIn(s, bus, n, f)
}

var (
	_ Target   = (*Space)(nil)
	_ Backdoor = (*Space)(nil)
)
