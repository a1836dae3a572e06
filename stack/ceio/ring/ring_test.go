package ring

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// receive hands over at most n packets and returns them.
func receive(r *Ring, n int) (got []Packet) {
	for len(got) < n {
		p, ready := r.Next()
		if !ready {
			break
		}
		r.HandOver()
		got = append(got, p)
	}
	return got
}

// TestFigure7 plays the example of Fig. 7: with 4 credits, packets #1 to #4 are fast and the next ones, #17 to #20, are
// slow. The first message is #1 to #4, #17 and #18.
func TestFigure7(t *testing.T) {
	r := New(16)
	for range 4 {
		r.Append(true)
	}
	for range 4 {
		r.Append(false)
	}
	fast := []Packet{{true, 0}, {true, 1}, {true, 2}, {true, 3}}
	require.Equal(t, fast, receive(r, 6), "async_recv() returns #1 to #4 at once")
	first, n := r.Uncopied()
	require.Equal(t, []int{0, 4}, []int{int(first), n})
	r.StartCopies(2)
	require.Empty(t, receive(r, 2), "the DMA of #17 and #18 is under way")
	r.Copied(1)
	require.Equal(t, []Packet{{false, 0}}, receive(r, 2))
	r.Copied(1)
	require.Equal(t, []Packet{{false, 1}}, receive(r, 2), "recv() returns when the DMA of #18 has ended")
	require.Equal(t, 4, r.Unprocessed(), "the message has been handed over, its credits are still in use")
	r.Processed(4)
	require.Zero(t, r.Unprocessed())
	require.False(t, r.Drained(), "#19 and #20 of the second message are in the NIC")
}

// TestOrder plays random schedules with a NIC that has a few credits, and resumes that take effect late: software must
// get every frame once, in order.
func TestOrder(t *testing.T) {
	const frames, schedules = 2000, 200
	late := uint64(0)
	for seed := range uint64(schedules) {
		n := newNIC(rand.New(rand.NewPCG(seed, 7)))
		for steps := 0; len(n.got) < frames; steps++ {
			require.Less(t, steps, 100*frames, "seed %d", seed)
			n.step(frames)
		}
		for i, seq := range n.got {
			require.EqualValues(t, i, seq, "seed %d: every frame once, in order", seed)
		}
		require.Greater(t, n.exhausted, 3, "seed %d", seed)
		late += n.merger.Late()
	}
	require.NotZero(t, late, "no schedule had a frame between the resume and its effect")
}

// nic is an account of a NIC ([A1] to [A5]) with two rings, and the flow's software.
type nic struct {
	rand       *rand.Rand
	seq        uint32
	balance    int
	slow       bool
	resume     int         // steps until a resume takes effect; 0: none is under way
	rings      [2][]uint32 // numbers of the frames: fast, slow
	seen       [2]int      // entries that software has taken
	exhausted  int
	r          *Ring
	merger     Merger
	got        []uint32
	unreleased int
}

func newNIC(r *rand.Rand) *nic { return &nic{rand: r, balance: 4, r: New(64)} }

func (n *nic) step(frames int) {
	switch n.rand.IntN(6) {
	case 0:
		n.frame(frames)
	case 1:
		n.poll(n.rand.IntN(2))
	case 2:
		_, k := n.r.Uncopied()
		n.r.StartCopies(n.rand.IntN(k + 1))
	case 3:
		n.r.Copied(n.rand.IntN(n.r.Copying() + 1))
	case 4:
		n.receive()
	case 5:
		n.control()
	}
}

func (n *nic) frame(frames int) {
	if n.resume--; n.resume == 0 {
		n.slow, n.balance = false, n.balance+n.unreleased
		n.unreleased = 0
	}
	n.resume = max(n.resume, 0)
	if int(n.seq) == frames {
		return
	}
	way := 0
	if n.slow || n.balance == 0 {
		if !n.slow {
			n.exhausted++
		}
		n.slow, way = true, 1
	} else {
		n.balance--
	}
	n.rings[way] = append(n.rings[way], n.seq)
	n.seq++
}

func (n *nic) poll(way int) {
	for n.seen[way] < len(n.rings[way]) && !n.r.Full() && n.merger.Take(way == 0, n.rings[way][n.seen[way]]) {
		n.r.Append(way == 0)
		n.seen[way]++
	}
}

func (n *nic) receive() {
	for _, p := range receive(n.r, 1+n.rand.IntN(8)) {
		way := 1
		if p.Fast {
			way = 0
			n.r.Processed(1)
			n.unreleased++
		}
		n.got = append(n.got, n.rings[way][p.Index])
	}
}

// control resumes the fast path when the slow ring is empty and has been drained.
func (n *nic) control() {
	if n.slow && n.resume == 0 && n.r.Drained() && n.seen[1] == len(n.rings[1]) && n.unreleased > 0 {
		n.merger.Resumed()
		n.resume = 1 + n.rand.IntN(4)
	}
}
