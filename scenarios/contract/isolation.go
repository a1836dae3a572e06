package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

// isolationChecks hold that what becomes of a queue is nothing to the others.
var isolationChecks = []check{
	{"queues apart/one is disabled and enabled while the others are at work", "Q5 T11 R11 T10 C3", stalled, resetBeside},
	{"queues apart/reads of descriptors fail", "P6 Q4 C3", stalled, func(r *rig) { failBeside(r, victimDescriptor) }},
	{"queues apart/reads of work entries fail", "P6 T2 C3", stalled, func(r *rig) { failBeside(r, victimEntry) }},
	{"queues apart/reads of pieces fail", "P6 T6 C3", stalled, func(r *rig) { failBeside(r, victimPiece) }},
}

var isolationCopyChecks = []check{
	{"queues apart/reads of copies fail", "P6 D3 C3", stalled, func(r *rig) { failBeside(r, victimCopy) }},
}

// background runs traffic on several queues and checks that all of it arrives.
type background struct {
	*rig
	rng    *rand.Rand
	w      []*window
	rx     []*rxRing
	tx     []*txRing
	frames []int // ordinals of the frames on their way, of each receive queue
	queues []int
	posts  [][]posted
	firsts []uint16
}

// newBackground opens receive queues 10 to 12, which rules 0 to 2 lead to, and transmit queues 20 to 22, of which the last copies
// where that is built.
func (r *rig) newBackground(seed uint64) *background {
	r.t.Helper()
	_, w := r.copySetup(63%r.sizes.NumTxq, 2)
	c := &background{rig: r, rng: rand.New(rand.NewPCG(seed, 9)), w: w}
	r.byDest(10, 11, 12, 2)
	for i := range 3 {
		c.rx = append(c.rx, r.openRx(10+i, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitMode(i), 40 }))
		c.tx = append(c.tx, r.openTx(20+i, 5))
		r.post(c.rx[i], 100)
	}
	r.receiveAll(10)
	return c
}

// begin gives every queue something to do.
func (c *background) begin(n int) {
	c.t.Helper()
	c.queues, c.frames, c.posts, c.firsts = nil, nil, nil, nil
	for i, x := range c.tx {
		var all []nicspec.WqeFields
		for range n {
			if i == 2 && c.sizes.Has(nicspec.PartCopy) {
				all = append(all, c.soundCopy(c.w[0], c.rng.Uint64()%1000))
			} else {
				all = append(all, c.cut(c.w, pattern(60+c.rng.IntN(900), c.rng.Uint64()), c.rng.IntN(17), 2, c.rng))
			}
		}
		c.firsts = append(c.firsts, x.PI)
		c.posts = append(c.posts, c.enqueue(x, all...))
		c.tell(&x.ring)
	}
	for i := range 3 * n {
		c.frame(i % 3)
	}
}

// frame plays a frame to a receive queue.
func (c *background) frame(i int) {
	c.frames, c.queues = append(c.frames, c.ordinal()), append(c.queues, i)
	c.play(to(10+i, frameOf(60+c.rng.IntN(500))))
}

// end demands that all of it has arrived.
func (c *background) end() {
	c.t.Helper()
	for k, i := range c.queues {
		c.delivered(c.rx[i], c.frames[k], uint16(i))
		c.post(c.rx[i], 1)
	}
	for i, x := range c.tx {
		c.ended(x, c.firsts[i], c.posts[i])
	}
	for i := range 3 {
		c.nothing(&c.rx[i].ring)
		c.nothing(&c.tx[i].ring)
	}
}

// resetBeside disables and enables a receive queue and a transmit queue again and again, with work of theirs on its way.
func resetBeside(r *rig) {
	c := r.newBackground(121)
	for i := range 8 {
		x, y := r.openRx(2, 4, nil), r.openTx(4, 4)
		r.post(x, 12)
		c.begin(10)
		for k := range 12 {
			r.enqueue(y, r.sound(c.w[k%2], uint64(k)))
			if k%3 == 0 {
				r.play(to(2, frameOf(100+k)))
			}
		}
		r.tell(&y.ring)
		r.run(i * 70)
		r.disable(nicspec.TableTxq, 4)
		r.disable(nicspec.TableRxq, 2)
		c.frame(i % 3)
		c.end()
		for r.leftFrom(4) {
			r.left(4)
		}
	}
	r.quiet()
	r.noFrames()
}

// victim gives a queue something to do whose reads fail, and tells how to wait for its end.
type victim func(c *background, f *failure) (end func())

func victimDescriptor(c *background, f *failure) func() {
	x := c.openRx(2, 3, nil)
	c.failOnce(f.kind, x.Base, 128)
	c.post(x, 1)
	return func() {
		if f.want != nicspec.StatusOk {
			c.event(&x.ring, f.want, 0)
		}
		c.disable(nicspec.TableRxq, 2)
	}
}

func victimEntry(c *background, f *failure) func() {
	x := c.openTx(4, 3)
	c.failOnce(f.kind, x.Base, 512)
	all := c.enqueue(x, c.sound(c.w[0], 1))
	c.tell(&x.ring)
	return func() {
		if f.want == nicspec.StatusOk {
			c.ended(x, 0, all)
		} else {
			c.event(&x.ring, f.want, 0)
		}
		c.disable(nicspec.TableTxq, 4)
	}
}

// spoils has an entry's reads of its first piece fail.
func (c *background) spoils(f *failure, e nicspec.WqeFields) func() {
	x := c.openTx(4, 3)
	s := segments(&e)[0]
	c.failOnce(f.kind, c.busOf(s), int(s.Len))
	all := c.enqueue(x, e, c.sound(c.w[0], 2))
	if f.want != nicspec.StatusOk {
		all[0].status, all[0].frame = f.want, nil
	}
	c.tell(&x.ring)
	return func() {
		c.ended(x, 0, all)
		c.disable(nicspec.TableTxq, 4)
	}
}

func victimPiece(c *background, f *failure) func() { return c.spoils(f, c.sound(c.w[1], 7)) }
func victimCopy(c *background, f *failure) func()  { return c.spoils(f, c.soundCopy(c.w[1], 7)) }

// failBeside lets reads of a queue fail in every way while the others are at work.
func failBeside(r *rig, v victim) {
	r.write(nicspec.RegCplTimeout, timeout)
	c := r.newBackground(122)
	for i := range failures {
		f := &failures[i]
		if f.kind == inject.FaultTag { // the tag that it hits may be another's: they rest meanwhile
			end := v(c, f)
			r.struck()
			end()
			c.begin(4)
		} else {
			c.begin(4)
			end := v(c, f)
			r.struck()
			for k := range 3 {
				c.frame(k)
			}
			end()
		}
		c.end()
		r.quiet()
		require.Equal(r.t, 1, r.b.Faults.Hits(), "%v", f.kind)
		r.b.Faults.Clear()
		r.noFrames()
	}
	n := r.counters()
	require.Zero(r.t, n[port(nicspec.CntRxDropOverflow)]+n[port(nicspec.CntRxDropNoDesc)]+n[port(nicspec.CntRxDropQueueErr)])
}
