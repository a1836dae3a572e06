package shring

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/baseline/shring/ring"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// Server opens the paths of one node, which share a ring.
type Server struct {
	spec   Spec
	ring   *ring.Ring
	queue  *driver.RxQueue
	number int // of the queue
	bus    sharedBus
	base   uint64 // address of the first buffer
	bytes  int    // of a buffer
	repost int
	frames []driver.RxFrame // by place: the latest packet there
	cqes   []byte           // their completion entries
	paths  []*path
	rules  map[int]*path // by the number of their rule
	cores  []*hostCore
	shared memory
	stats  Stats
	err    error
}

// Stats counts what the cores of a server did with the shared ring.
type Stats struct {
	Packets   uint64 // packets handed to their flows
	Looked    uint64 // completion entries that cores looked at
	Others    uint64 // entries among them of another core's packets
	Refills   uint64 // times that a core posted buffers
	Contended uint64 // times that a core found the lock taken
}

// New returns a server without paths.
func New(s Spec) (*Server, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("shring: %w", err)
	}
	return &Server{spec: s, rules: map[int]*path{}}, nil
}

// Stats returns the counters.
func (s *Server) Stats() Stats { return s.stats }

// Held returns the number of buffers whose packets have not been processed.
func (s *Server) Held() int {
	if s.ring == nil {
		return 0
	}
	return s.ring.Held()
}

// Open implements hostnet.Opener: it opens the path of a flow.
func (s *Server) Open(c hostnet.PathConfig) (hostnet.Path, error) {
	p, err := s.open(c)
	if err != nil {
		return nil, fmt.Errorf("shring: %w", err)
	}
	return p, nil
}

func (s *Server) open(c hostnet.PathConfig) (*path, error) {
	if n := 1 << c.Buffers.Log; n != s.spec.Descriptors {
		return nil, fmt.Errorf("%d receive buffers: want %d, the descriptors of the ring", n, s.spec.Descriptors)
	}
	if c.Buffers.Split > 0 {
		return nil, errors.New("split frames: want whole ones, as all flows share the buffers")
	}
	if s.ring == nil {
		if err := s.openRing(&c); err != nil {
			return nil, err
		}
	}
	if c.Buffers.Bytes != s.bytes {
		return nil, fmt.Errorf("buffers of %d B: want %d, as all flows share them", c.Buffers.Bytes, s.bytes)
	}
	rule, err := c.TakeRule()
	if err != nil {
		return nil, err
	}
	p := &path{s: s, c: c, core: s.core(&c)}
	p.core.paths = append(p.core.paths, p)
	s.paths, s.rules[rule] = append(s.paths, p), p
	to := c.Match
	to.To = driver.ToQueue(s.number)
	return p, c.Driver.SetRule(rule, to)
}

// openRing opens the ring with the first path, and posts all buffers.
func (s *Server) openRing(c *hostnet.PathConfig) (err error) {
	n := s.spec.Descriptors
	s.ring, s.bytes, s.repost = ring.New(n), c.Buffers.Bytes, c.Repost
	s.frames, s.cqes = make([]driver.RxFrame, n), make([]byte, n*nicspec.CqeBytes)
	s.bus.Bus = c.Bus
	var err1, err2 error
	s.number, err1 = c.TakeRxQueue()
	s.base, err2 = c.Driver.AllocBuffers(nicspec.EndpointHost, uint64(n*s.bytes), 4096)
	if err := errors.Join(err1, err2, s.shared.alloc(c.Driver, n)); err != nil {
		return err
	}
	if s.queue, err = c.Driver.OpenRx(driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: s.number, LogSize: c.Buffers.Log, RingIn: nicspec.EndpointHost,
			DoneIn: nicspec.EndpointHost, Notice: driver.NoticePoll, Bus: &s.bus},
		PayBytes: s.bytes, OnFrame: s.arrived, OnEvent: s.failed,
	}); err != nil {
		return err
	}
	ring := s.queue.Layout()
	if _, err := c.Loop.WatchAnd(ring.CQ, ring.CQBytes(), func(uint64, int) { s.wake() }); err != nil {
		return err
	}
	return s.post(n)
}

// core returns the state of a path's core.
func (s *Server) core(c *hostnet.PathConfig) *hostCore {
	for _, k := range s.cores {
		if k.bus == c.Bus {
			return k
		}
	}
	k := &hostCore{s: s, bus: c.Bus, number: s.ring.Join(), stepped: -1}
	k.unlock = func() { s.unlock(k) }
	s.cores = append(s.cores, k)
	return k
}

// wake wakes a loop of each core: the NIC has written a completion entry.
func (s *Server) wake() {
	for _, k := range s.cores {
		k.paths[0].c.Loop.Wake()
	}
}

// post posts n buffers. There must be room.
func (s *Server) post(n int) error {
	for range n {
		if err := s.queue.Post(driver.Buffer{Pay: s.base + uint64(s.ring.Post()*s.bytes)}); err != nil {
			return err
		}
	}
	return s.queue.Ring()
}

// arrived takes a packet from the driver, for the core that has read its completion entry first.
func (s *Server) arrived(_ *driver.RxQueue, f *driver.RxFrame) {
	place, err := s.ring.Arrived(int(f.Pay-s.base) / s.bytes)
	if s.check(err); err != nil {
		return
	}
	cqe := s.cqes[place*nicspec.CqeBytes:][:nicspec.CqeBytes]
	copy(cqe, f.Cqe)
	s.frames[place] = *f
	s.frames[place].Cqe = cqe
}

func (s *Server) failed(_ *driver.RxQueue, e driver.Event) {
	s.check(fmt.Errorf("receive queue %d failed with status %v", s.number, e.Status))
}

func (s *Server) check(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("shring: %w", err)
	}
}

// sharedBus is the bus of the core that uses the ring at the moment.
type sharedBus struct{ *corebus.Bus }

var (
	_ driver.Bus        = (*sharedBus)(nil)
	_ driver.Prefetcher = (*sharedBus)(nil)
)
