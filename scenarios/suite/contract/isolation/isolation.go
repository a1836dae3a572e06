package isolation

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/copies"
	"nictwin/scenarios/suite/contract/kit"
)

// Checks verify that whatever happens to one queue leaves the others alone.
var Checks = []kit.Check{
	{Name: "queues apart/one is disabled and enabled while the others are at work", Rules: "Q5 T11 R11 T10 C3",
		Stalls: kit.Stalled, Run: resetBeside},
	{Name: "queues apart/reads of descriptors fail", Rules: "P6 Q4 C3", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { failBeside(r, victimDescriptor) }},
	{Name: "queues apart/reads of work entries fail", Rules: "P6 T2 C3", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { failBeside(r, victimEntry) }},
	{Name: "queues apart/reads of pieces fail", Rules: "P6 T6 C3", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { failBeside(r, victimPiece) }},
}

// CopyChecks are the isolation checks that need the copy engine.
var CopyChecks = []kit.Check{
	{Name: "queues apart/reads of copies fail", Rules: "P6 D3 C3", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { failBeside(r, victimCopy) }},
}

// background runs traffic on several queues and checks that all of it arrives.
type background struct {
	*kit.Rig
	rng    *rand.Rand
	w      []*kit.Window
	rx     []*kit.RxRing
	tx     []*kit.TxRing
	frames []int // ordinals on the port of the frames in flight to each receive queue
	queues []int
	posts  [][]kit.Posted
	firsts []uint16
}

// newBackground opens receive queues 10 to 12, selected by rules 0 to 2, and transmit queues 20 to 22. Queue 22 copies
// in builds with the copy engine.
func newBackground(r *kit.Rig, seed uint64) *background {
	r.T.Helper()
	_, w := copies.CopySetup(r, 63%r.Sizes.NumTxq, 2)
	c := &background{Rig: r, rng: rand.New(rand.NewPCG(seed, 9)), w: w}
	r.ByDest(10, 11, 12, 2)
	for i := range 3 {
		c.rx = append(c.rx,
			r.OpenRx(10+i, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitMode(i), 40 }))
		c.tx = append(c.tx, r.OpenTx(20+i, 5))
		r.Post(c.rx[i], 100)
	}
	r.ReceiveAll(10)
	return c
}

// begin starts frames and entries on every queue.
func (c *background) begin(n int) {
	c.T.Helper()
	c.queues, c.frames, c.posts, c.firsts = nil, nil, nil, nil
	for i, x := range c.tx {
		var all []nicspec.WqeFields
		for range n {
			if i == 2 && c.Sizes.Has(nicspec.PartCopy) {
				all = append(all, copies.SoundCopy(c.Rig, c.w[0], c.rng.Uint64()%1000))
			} else {
				all = append(all, c.Cut(c.w, kit.Pattern(60+c.rng.IntN(900), c.rng.Uint64()), c.rng.IntN(17), 2, c.rng))
			}
		}
		c.firsts = append(c.firsts, x.PI)
		c.posts = append(c.posts, c.Enqueue(x, all...))
		c.RingDoorbell(&x.Ring)
	}
	for i := range 3 * n {
		c.frame(i % 3)
	}
}

// frame plays a frame to a receive queue.
func (c *background) frame(i int) {
	c.frames, c.queues = append(c.frames, c.Ordinal()), append(c.queues, i)
	c.Play(kit.FrameTo(10+i, kit.FrameOf(60+c.rng.IntN(500))))
}

// end waits until all of the traffic has arrived, and checks it.
func (c *background) end() {
	c.T.Helper()
	for k, i := range c.queues {
		c.Delivered(c.rx[i], c.frames[k], uint16(i))
		c.Post(c.rx[i], 1)
	}
	for i, x := range c.tx {
		c.Ended(x, c.firsts[i], c.posts[i])
	}
	for i := range 3 {
		c.Nothing(&c.rx[i].Ring)
		c.Nothing(&c.tx[i].Ring)
	}
}

// resetBeside repeatedly disables and enables a receive and a transmit queue, with frames and entries of theirs in
// flight.
func resetBeside(r *kit.Rig) {
	c := newBackground(r, 121)
	for i := range 8 {
		x, y := r.OpenRx(2, 4, nil), r.OpenTx(4, 4)
		r.Post(x, 12)
		c.begin(10)
		for k := range 12 {
			r.Enqueue(y, r.Sound(c.w[k%2], uint64(k)))
			if k%3 == 0 {
				r.Play(kit.FrameTo(2, kit.FrameOf(100+k)))
			}
		}
		r.RingDoorbell(&y.Ring)
		r.Run(i * 70)
		r.Disable(nicspec.TableTxq, 4)
		r.Disable(nicspec.TableRxq, 2)
		c.frame(i % 3)
		c.end()
		for r.LeftFrom(4) {
			r.Left(4)
		}
	}
	r.Quiet()
	r.NoFrames()
}

// victim starts work of a queue whose reads fail, and returns a function that waits until the queue has reported the
// failure.
type victim func(c *background, f *kit.Failure) (end func())

func victimDescriptor(c *background, f *kit.Failure) func() {
	x := c.OpenRx(2, 3, nil)
	c.FailOnce(f.Kind, x.Base, 128)
	c.Post(x, 1)
	return func() {
		if f.Want != nicspec.StatusOk {
			c.Event(&x.Ring, f.Want, 0)
		}
		c.Disable(nicspec.TableRxq, 2)
	}
}

func victimEntry(c *background, f *kit.Failure) func() {
	x := c.OpenTx(4, 3)
	c.FailOnce(f.Kind, x.Base, 512)
	all := c.Enqueue(x, c.Sound(c.w[0], 1))
	c.RingDoorbell(&x.Ring)
	return func() {
		if f.Want == nicspec.StatusOk {
			c.Ended(x, 0, all)
		} else {
			c.Event(&x.Ring, f.Want, 0)
		}
		c.Disable(nicspec.TableTxq, 4)
	}
}

// failFirstPiece makes an entry's reads of its first piece fail.
func (c *background) failFirstPiece(f *kit.Failure, e nicspec.WqeFields) func() {
	x := c.OpenTx(4, 3)
	s := kit.Segments(&e)[0]
	c.FailOnce(f.Kind, c.BusOf(s), int(s.Len))
	all := c.Enqueue(x, e, c.Sound(c.w[0], 2))
	if f.Want != nicspec.StatusOk {
		all[0].Status, all[0].Frame = f.Want, nil
	}
	c.RingDoorbell(&x.Ring)
	return func() {
		c.Ended(x, 0, all)
		c.Disable(nicspec.TableTxq, 4)
	}
}

func victimPiece(c *background, f *kit.Failure) func() {
	return c.failFirstPiece(f, c.Sound(c.w[1], 7))
}
func victimCopy(c *background, f *kit.Failure) func() {
	return c.failFirstPiece(f, copies.SoundCopy(c.Rig, c.w[1], 7))
}

// failBeside makes reads of a queue fail in every way while the other queues are busy.
func failBeside(r *kit.Rig, v victim) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	c := newBackground(r, 122)
	for i := range kit.Failures {
		f := &kit.Failures[i]
		if f.Kind == inject.FaultTag { // the wrong tag may be in use by another queue, so background traffic pauses
			end := v(c, f)
			r.AwaitFault()
			end()
			c.begin(4)
		} else {
			c.begin(4)
			end := v(c, f)
			r.AwaitFault()
			for k := range 3 {
				c.frame(k)
			}
			end()
		}
		c.end()
		r.Quiet()
		require.Equal(r.T, 1, r.Bed.Faults.Hits(), "%v", f.Kind)
		r.Bed.Faults.Clear()
		r.NoFrames()
	}
	n := r.Counters()
	require.Zero(r.T,
		n[kit.PortCounter(nicspec.CntRxDropOverflow)]+n[kit.PortCounter(nicspec.CntRxDropNoDesc)]+n[kit.PortCounter(
			nicspec.CntRxDropQueueErr)])
}
