package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var fenceChecks = []check{
	{"fence/copy after copy", "D10 D8", stalled, fencedCopies},
	{"fence/after copies whose reads are slow", "D10 D7", stalled, fencedBehindSlow},
	{"fence/after a message", "D10 D5", stalled, fencedBehindMessage},
	{"fence/after what fails", "D10 D3", stalled, fencedBehindFailure},
	{"fence/other queues go on", "D10 D7", stalled, fencedApart},
	{"fence/among what is sent", "D10 D8 T10", stalled, fencedAmongFrames},
	{"fence/statuses", "D1", calm, fenceStatuses},
}

var fencePushChecks = []check{{"fence/pushed and read", "D10 W2 D8", stalled, fencedPushed}}

// effects are the places, in the order of what left, of the writes to each destination and of the messages for each source.
type effects struct {
	r     *rig
	at    int
	first map[int]int // by entry
	last  map[int]int
	of    []nicspec.WqeFields
}

// effectsOf follows what the entries of a queue write.
func (r *rig) effectsOf(entries []nicspec.WqeFields) *effects {
	e := &effects{r: r, first: map[int]int{}, last: map[int]int{}, of: entries}
	r.watch = e.see
	return e
}

func (e *effects) see(c boundary.Crossing) {
	h := tlp.Parse(&c.TLP.Hdr)
	if c.Kind != boundary.TLPOut || h.Kind != tlp.MWr && h.Kind != tlp.MsgD {
		return
	}
	e.at++
	for i := range e.of {
		s := segments(&e.of[i])
		hit := false
		switch {
		case h.Kind == tlp.MsgD:
			hit = e.of[i].Opcode != nicspec.OpcodeCopy && le64(c.TLP.Data) == e.r.busOf(s[0])
		case len(s) == 2:
			off, n := h.Span()
			at := h.Address + uint64(off)
			to := e.r.busOf(s[1])
			hit = at < to+uint64(s[1].Len) && to < at+uint64(n)
		}
		if !hit {
			continue
		}
		if _, seen := e.first[i]; !seen {
			e.first[i] = e.at
		}
		e.last[i] = e.at
	}
}

func le64(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// fenced demands that nothing that a fenced entry writes left before what those before it write.
func (e *effects) fenced() {
	e.r.t.Helper()
	e.r.watch = nil
	for i := range e.of {
		first, wrote := e.first[i]
		if !e.of[i].FFence || !wrote {
			continue
		}
		for k := range i {
			require.Less(e.r.t, e.last[k], first, "write of entry %d, which is fenced, and the last write or message of entry %d before it", i, k)
		}
	}
}

// fenceCopy is a copy between windows of n bytes.
func (r *rig) fenceCopy(w []*window, i, n int, fence bool) nicspec.WqeFields {
	r.t.Helper()
	src := r.piece(w[i&1], i*13%64, 64, pattern(n, uint64(i)))
	e := copyEntry(nicspec.OpcodeCopy, src, r.hole(w[i>>1&1], i*7%64, 64, n))
	e.FFence = fence
	return e
}

// fencedCopies has copies of all sizes, every second or third fenced: a payload and the pointer that must not overtake it.
func fencedCopies(r *rig) {
	x, w := r.copySetup(5, 5)
	rng := rand.New(rand.NewPCG(61, 9))
	for round := range 6 {
		var all []nicspec.WqeFields
		for i := range 24 {
			n := []int{8, 1 + rng.IntN(64), 100 + rng.IntN(400), 1 + rng.IntN(3000), 1 + rng.IntN(6000)}[rng.IntN(5)]
			e := r.fenceCopy(w, i, n, round > 0 && i%(1+round%3) == 0)
			e.FComplete = rng.IntN(2) > 0
			all = append(all, e)
		}
		e := r.effectsOf(all)
		r.transmit(x, all...)
		e.fenced()
		for i := range all {
			s := segments(&all[i])
			r.filled(s[1], r.load(r.busOf(s[0]), int(s[0].Len)))
		}
	}
}

// fencedBehindSlow delays the reads of one of several copies, or a part of them; short ones, fenced, stand behind it.
func fencedBehindSlow(r *rig) {
	x, w := r.copySetup(6, 4)
	for i := range 12 {
		n := []int{64, 300, 5000}[i%3]
		all := []nicspec.WqeFields{
			r.fenceCopy(w, i, 40, false), r.fenceCopy(w, i+1, n, false), r.fenceCopy(w, i+2, 500, i%2 > 0),
			r.fenceCopy(w, i+3, 8, true), r.fenceCopy(w, i+1, 700, false), r.fenceCopy(w, i+2, 8, true),
		}
		slow := all[[]int{0, 1, 2, 1, 4}[i%5]]
		s := segments(&slow)[0]
		from := r.busOf(s) + uint64(int(s.Len)/2*(i/3%2))&^63
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: from, To: r.busOf(s) + uint64(s.Len), Delay: r.b.Cycles(2500)}))
		e := r.effectsOf(all)
		r.transmit(x, all...)
		e.fenced()
		r.b.Faults.Clear()
		d := segments(&all[5])
		r.filled(d[1], r.load(r.busOf(d[0]), 8))
	}
}

func fencedBehindMessage(r *rig) {
	x, w := r.copySetup(7, 4)
	messages := 0
	r.root.OnMessage = func(*tlp.Header, []byte) { messages++ }
	for i := range 10 {
		n := 64 * (1 + i*3)
		s := r.piece(w[0], 0, 64, pattern(n, uint64(i)))
		all := []nicspec.WqeFields{copyEntry(nicspec.OpcodeCopyInvalidate, s, r.hole(w[1], i, 64, n)), r.fenceCopy(w, i, 8, true),
			copyEntry(nicspec.OpcodeInvalidate, r.piece(w[0], 0, 64, pattern(128, 3))), r.fenceCopy(w, i+1, 64, true)}
		all[0].FFence = i%2 > 0
		all[2].FComplete = i%3 > 0
		if i%2 > 0 {
			all[3].Opcode = nicspec.OpcodeCopyInvalidate
			segs := segments(&all[3])
			src := r.piece(w[0], 0, 64, pattern(64, 5))
			all[3] = copyEntry(nicspec.OpcodeCopyInvalidate, src, segs[1])
			all[3].FFence = true
		}
		e := r.effectsOf(all)
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: r.busOf(s), To: r.busOf(s) + uint64(n), Delay: r.b.Cycles(i * 300)}))
		r.transmit(x, all...)
		e.fenced()
		r.b.Faults.Clear()
	}
	require.Equal(r.t, 25, messages)
}

// fencedBehindFailure has entries fail in checks and in reads before a fenced one, which does what it is to.
func fencedBehindFailure(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	x, w := r.copySetup(3, 4)
	for i, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultSilent, inject.FaultPoison, inject.FaultNone} {
		r.quiet()
		bad, none := r.fenceCopy(w, i, 3000, false), r.fenceCopy(w, i+1, 100, true)
		none.Slots[0] ^= 1 // a key that there is not
		all := []nicspec.WqeFields{r.fenceCopy(w, i+2, 900, false), bad, none, r.fenceCopy(w, i+3, 64, true)}
		s := segments(&bad)[0]
		r.failOnce(kind, r.busOf(s), 3000)
		e := r.effectsOf(all)
		first := x.PI
		ends := r.enqueue(x, all...)
		ends[1].status = map[inject.FaultKind]nicspec.Status{inject.FaultUR: nicspec.StatusCplUnsupported, inject.FaultSilent: nicspec.StatusCplTimeout,
			inject.FaultPoison: nicspec.StatusCplPoison}[kind]
		r.tell(&x.ring)
		r.ended(x, first, ends)
		e.fenced()
		r.b.Faults.Clear()
		d := segments(&all[3])
		r.filled(d[1], r.load(r.busOf(d[0]), 64))
	}
}

// fencedApart holds one queue up behind a fence: fenced copies of other channels, and what is sent, do not wait for it.
func fencedApart(r *rig) {
	_, w := r.copySetup(8, 2)
	for channel := range nicspec.CopyChannels {
		held, other, send := r.openTx(channel, 3), r.openTx(channel^1|4, 3), r.openTx(channel|32, 3)
		slow := r.fenceCopy(w, channel, 2000, false)
		at := r.busOf(segments(&slow)[0])
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: at, To: at + 2000, Delay: r.b.Cycles(6000)}))
		all := []nicspec.WqeFields{slow, r.fenceCopy(w, channel+1, 8, true)}
		e := r.effectsOf(all)
		wait := r.enqueue(held, all...)
		r.tell(&held.ring)
		r.struck()
		for i := range 3 {
			r.transmit(other, r.fenceCopy(w, i, 300, false), r.fenceCopy(w, i+1, 8, true))
			r.transmit(send, r.sound(w[1], uint64(i)))
		}
		r.nothing(&held.ring)
		r.ended(held, 0, wait)
		e.fenced()
		r.noFrames()
		for _, x := range []*txRing{held, other, send} {
			r.disable(nicspec.TableTxq, x.Number)
		}
	}
}

// fencedAmongFrames mixes fenced copies with frames and Nops of their queue.
func fencedAmongFrames(r *rig) {
	x, w := r.copySetup(6, 4)
	rng := rand.New(rand.NewPCG(62, 9))
	for range 6 {
		var all []nicspec.WqeFields
		for i := range 14 {
			switch rng.IntN(4) {
			case 0:
				all = append(all, r.sound(w[i&1], rng.Uint64()))
			case 1:
				all = append(all, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: i%2 > 0, FFence: true})
			default:
				all = append(all, r.fenceCopy(w, i, 1+rng.IntN(800), rng.IntN(2) > 0))
			}
		}
		var copies []nicspec.WqeFields
		for i := range all {
			if isCopy(all[i].Opcode) {
				copies = append(copies, all[i])
			}
		}
		e := r.effectsOf(copies)
		r.transmit(x, all...)
		e.fenced()
	}
	r.quiet()
	r.noFrames()
}

// fencedPushed has copies some of which are pushed, and so may never be read from the ring, before and behind those that are
// read: a fence holds over both kinds.
func fencedPushed(r *rig) {
	x, w := r.copySetup(6, 4)
	rng := rand.New(rand.NewPCG(63, 9))
	for round := range 8 {
		first := x.PI
		var all []nicspec.WqeFields
		for i := range 12 {
			all = append(all, r.fenceCopy(w, i, 1+rng.IntN(1500), i > 0 && (i+round)%3 == 0))
		}
		s := segments(&all[round%3])[0]
		require.NoError(r.t, r.b.Faults.Add(faultDelay(r, r.busOf(s), int(s.Len), 800)))
		seen := r.effectsOf(all)
		var posts []posted
		for i := range all {
			e := one(all[i])
			posts = append(posts, r.enqueueLong(x, e)...)
			if at := x.PI; (i+round)%2 == 0 {
				r.pushBlock(x, &posts[i].longEntry, 0)
			} else {
				r.doorbell(false, x.Number, uint32(at))
			}
		}
		r.ended(x, first, posts)
		seen.fenced()
		r.b.Faults.Clear()
	}
	r.quiet()
	r.noFrames()
}

// fenceStatuses sets the flag where it may be and where it may not.
func fenceStatuses(r *rig) {
	x, w := r.copySetup(4, 4)
	s := r.piece(w[0], 0, 64, pattern(640, 1))
	var all []nicspec.WqeFields
	for op := nicspec.OpcodeNop; op <= nicspec.OpcodeCopyInvalidate+1; op++ {
		var e nicspec.WqeFields
		switch {
		case op == nicspec.OpcodeInvalidate:
			e = copyEntry(op, s)
		case isCopy(op):
			e = copyEntry(op, s, r.hole(w[1], 3, 64, 640))
		default:
			e = r.sound(w[1], uint64(op))
			e.Opcode = op
		}
		e.FComplete, e.FFence = true, true
		all = append(all, e, r.sound(w[1], 7))
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}
