package ring

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// system is a ring with a NIC that fills it, and cores that go through it.
type system struct {
	*Ring
	rand   *rand.Rand
	owners []int    // core of each flow
	sent   []int    // packets by flow
	inside []packet // by place: the packet that the NIC wrote
	got    []int    // packets by flow that its core has taken
	held   []int    // buffers whose packets were taken and not processed
	drops  int
}

type packet struct{ flow, number, buffer int }

func newSystem(seed uint64) *system {
	r := rand.New(rand.NewPCG(seed, 42))
	s := &system{Ring: New(1 << (2 + r.IntN(5))), rand: r}
	s.inside = make([]packet, s.Size())
	cores, flows := 1+r.IntN(4), 1+r.IntN(6)
	for range cores {
		s.Join()
	}
	for range flows {
		s.owners = append(s.owners, r.IntN(cores))
	}
	s.sent, s.got = make([]int, flows), make([]int, flows)
	s.refill(s.Size())
	return s
}

func (s *system) refill(most int) {
	for range min(most, s.Room()) {
		s.Post()
	}
}

// arrive lets a frame of a flow arrive. Without a descriptor it is dropped.
func (s *system) arrive() error {
	if s.queued.Len() == 0 {
		s.drops++
		return nil
	}
	f, b := s.rand.IntN(len(s.owners)), *s.queued.Front()
	place, err := s.Arrived(b)
	s.inside[place] = packet{f, s.sent[f], b}
	s.sent[f]++
	return err
}

// scan lets a core pass some descriptors. A core other than the owner frees nothing.
func (s *system) scan(core int) error {
	for n := s.rand.IntN(2 * s.Size()); n > 0 && s.Behind(core); n-- {
		p := s.inside[s.Pass(core)]
		if s.owners[p.flow] != core {
			continue
		}
		if p.number != s.got[p.flow] {
			return fmt.Errorf("flow %d: packet %d, want %d", p.flow, p.number, s.got[p.flow])
		}
		s.got[p.flow]++
		s.held = append(s.held, p.buffer)
	}
	return nil
}

// process frees some buffers in a drawn order.
func (s *system) process() error {
	s.rand.Shuffle(len(s.held), func(i, j int) { s.held[i], s.held[j] = s.held[j], s.held[i] })
	for n := s.rand.IntN(len(s.held) + 1); n > 0; n-- {
		if err := s.Done(s.held[n-1]); err != nil {
			return err
		}
		s.held = append(s.held[:n-1], s.held[n:]...)
	}
	return nil
}

func (s *system) step() error {
	switch s.rand.IntN(6) {
	case 0, 1:
		for range 1 + s.rand.IntN(s.Size()) {
			if err := s.arrive(); err != nil {
				return err
			}
		}
		return nil
	case 2, 3:
		return s.scan(s.rand.IntN(len(s.cursors)))
	case 4:
		return s.process()
	default:
		s.refill(s.rand.IntN(s.Size()))
		return nil
	}
}

func (s *system) check() error {
	if n := s.queued.Len() + s.Held() + s.Free(); n != s.Size() {
		return fmt.Errorf("%d buffers: want %d", n, s.Size())
	}
	if ahead := s.posted - s.slowest(); ahead > uint64(s.Size()) {
		return fmt.Errorf("%d descriptors that a core has not passed: want %d at most", ahead, s.Size())
	}
	return nil
}

// TestHandOver draws schedules of arrivals, scans, frees and refills, and checks that each packet is handed over once,
// in the order of its flow, and that no descriptor is posted over one that a core has to look at.
func TestHandOver(t *testing.T) {
	drops, packets := 0, 0
	for seed := range uint64(2000) {
		s := newSystem(seed)
		for range 200 {
			require.NoError(t, s.step(), "seed %d", seed)
			require.NoError(t, s.check(), "seed %d", seed)
		}
		for core := range s.cursors {
			for s.Behind(core) {
				require.NoError(t, s.scan(core), "seed %d", seed)
			}
		}
		require.Equal(t, s.sent, s.got, "seed %d", seed)
		for len(s.held) > 0 {
			require.NoError(t, s.process())
		}
		require.Equal(t, s.Free(), s.Room(), "seed %d: nothing keeps a buffer", seed)
		drops += s.drops
		for _, n := range s.got {
			packets += n
		}
	}
	require.Greater(t, drops, 1000)
	require.Greater(t, packets, 100_000)
}

// TestSlowCore checks that a core which stops looking keeps all others from posting, and frees them when it looks.
func TestSlowCore(t *testing.T) {
	r := New(4)
	fast, slow := r.Join(), r.Join()
	for range 4 {
		r.Post()
	}
	for i := range 4 {
		place, err := r.Arrived(i)
		require.NoError(t, err)
		require.EqualValues(t, i, r.At(fast))
		require.Equal(t, place, r.Pass(fast))
		require.NoError(t, r.Done(i))
	}
	require.Equal(t, 4, r.Free())
	require.Zero(t, r.Room(), "the slow core has passed nothing")
	r.Pass(slow)
	require.Equal(t, 1, r.Room())
}

// TestWrongUse checks that packets in other buffers, and buffers freed twice, are errors.
func TestWrongUse(t *testing.T) {
	r := New(4)
	core := r.Join()
	_, err := r.Arrived(0)
	require.ErrorContains(t, err, "a packet in buffer 0: want the buffer of descriptor 0")
	b := r.Post()
	r.Post()
	_, err = r.Arrived(1)
	require.ErrorContains(t, err, "a packet in buffer 1")
	require.ErrorContains(t, r.Done(b), "buffer 0 was freed: want one with a packet")
	_, err = r.Arrived(b)
	require.NoError(t, err)
	r.Pass(core)
	require.NoError(t, r.Done(b))
	require.ErrorContains(t, r.Done(b), "buffer 0 was freed")
	require.ErrorContains(t, r.Done(9), "buffer 9 was freed")
}
