package copies

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// FenceChecks check the order that fences give to copies and Sends [D10].
var FenceChecks = []kit.Check{
	{Name: "fence/copy after copy", Rules: "D10 D8", Stalls: kit.Stalled, Run: fencedCopies},
	{Name: "fence/after copies whose reads are slow", Rules: "D10 D7", Stalls: kit.Stalled, Run: fencedBehindSlow},
	{Name: "fence/after a message", Rules: "D10 D5", Stalls: kit.Stalled, Run: fencedBehindMessage},
	{Name: "fence/after what fails", Rules: "D10 D3", Stalls: kit.Stalled, Run: fencedBehindFailure},
	{Name: "fence/other queues go on", Rules: "D10 D7", Stalls: kit.Stalled, Run: fencedApart},
	{Name: "fence/among what is sent", Rules: "D10 D8 T10", Stalls: kit.Stalled, Run: fencedAmongFrames},
	{Name: "fence/statuses", Rules: "D1", Stalls: kit.Calm, Run: fenceStatuses},
}

// FencePushChecks check fences between pushed entries and entries read from the ring.
var FencePushChecks = []kit.Check{{Name: "fence/pushed and read", Rules: "D10 W2 D8", Stalls: kit.Stalled,
	Run: fencedPushed}}

// effects records when entries took effect: positions in the device's output of the first and last write to each
// destination, and of the message about each source.
type effects struct {
	r     *kit.Rig
	at    int
	first map[int]int // position of the first effect, by entry
	last  map[int]int
	of    []nicspec.WqeFields
}

// effectsOf starts recording the effects of a queue's entries.
func effectsOf(r *kit.Rig, entries []nicspec.WqeFields) *effects {
	e := &effects{r: r, first: map[int]int{}, last: map[int]int{}, of: entries}
	r.Watch = e.see
	return e
}

func (e *effects) see(c boundary.Crossing) {
	h := tlp.Parse(&c.TLP.Hdr)
	if c.Kind != boundary.TLPOut || h.Kind != tlp.MWr && h.Kind != tlp.MsgD {
		return
	}
	e.at++
	for i := range e.of {
		s := kit.Segments(&e.of[i])
		hit := false
		switch {
		case h.Kind == tlp.MsgD:
			hit = e.of[i].Opcode != nicspec.OpcodeCopy && kit.LE64(c.TLP.Data) == e.r.BusOf(s[0])
		case len(s) == 2:
			off, n := h.Span()
			at := h.Address + uint64(off)
			to := e.r.BusOf(s[1])
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

// fenced checks that every write of a fenced entry left after all writes of the earlier entries.
func (e *effects) fenced() {
	e.r.T.Helper()
	e.r.Watch = nil
	for i := range e.of {
		first, wrote := e.first[i]
		if !e.of[i].FFence || !wrote {
			continue
		}
		for k := range i {
			require.Less(e.r.T, e.last[k], first, "first write of fenced entry %d, and the last write or message "+
				"of entry %d before it", i, k)
		}
	}
}

// fenceCopy returns a copy of n bytes between windows.
func fenceCopy(r *kit.Rig, w []*kit.Window, i, n int, fence bool) nicspec.WqeFields {
	r.T.Helper()
	src := r.Piece(w[i&1], i*13%64, 64, kit.Pattern(n, uint64(i)))
	e := kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w[i>>1&1], i*7%64, 64, n))
	e.FFence = fence
	return e
}

// fencedCopies posts copies of all sizes and fences every second or third: a payload and the
// pointer that must not overtake it.
func fencedCopies(r *kit.Rig) {
	x, w := CopySetup(r, 5, 5)
	rng := rand.New(rand.NewPCG(61, 9))
	for round := range 6 {
		var all []nicspec.WqeFields
		for i := range 24 {
			n := []int{8, 1 + rng.IntN(64), 100 + rng.IntN(400), 1 + rng.IntN(3000), 1 + rng.IntN(6000)}[rng.IntN(5)]
			e := fenceCopy(r, w, i, n, round > 0 && i%(1+round%3) == 0)
			e.FComplete = rng.IntN(2) > 0
			all = append(all, e)
		}
		e := effectsOf(r, all)
		r.Transmit(x, all...)
		e.fenced()
		for i := range all {
			s := kit.Segments(&all[i])
			r.CheckDestination(s[1], r.Load(r.BusOf(s[0]), int(s[0].Len)))
		}
	}
}

// fencedBehindSlow delays the reads of one of several copies, or those of its second half; short fenced copies follow.
func fencedBehindSlow(r *kit.Rig) {
	x, w := CopySetup(r, 6, 4)
	for i := range 12 {
		n := []int{64, 300, 5000}[i%3]
		all := []nicspec.WqeFields{
			fenceCopy(r, w, i, 40, false), fenceCopy(r, w, i+1, n, false), fenceCopy(r, w, i+2, 500, i%2 > 0),
			fenceCopy(r, w, i+3, 8, true), fenceCopy(r, w, i+1, 700, false), fenceCopy(r, w, i+2, 8, true),
		}
		slow := all[[]int{0, 1, 2, 1, 4}[i%5]]
		s := kit.Segments(&slow)[0]
		from := r.BusOf(s) + uint64(int(s.Len)/2*(i/3%2))&^63
		r.Bed.Faults.Clear()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{From: from, To: r.BusOf(s) + uint64(s.Len), Delay: r.Bed.Cycles(2500)}))
		e := effectsOf(r, all)
		r.Transmit(x, all...)
		e.fenced()
		r.Bed.Faults.Clear()
		d := kit.Segments(&all[5])
		r.CheckDestination(d[1], r.Load(r.BusOf(d[0]), 8))
	}
}

func fencedBehindMessage(r *kit.Rig) {
	x, w := CopySetup(r, 7, 4)
	messages := 0
	r.Root.OnMessage = func(*tlp.Header, []byte) { messages++ }
	for i := range 10 {
		n := 64 * (1 + i*3)
		s := r.Piece(w[0], 0, 64, kit.Pattern(n, uint64(i)))
		all := []nicspec.WqeFields{kit.CopyEntry(nicspec.OpcodeCopyInvalidate, s, r.Destination(w[1], i, 64, n)),
			fenceCopy(r, w, i, 8, true),
			kit.CopyEntry(nicspec.OpcodeInvalidate, r.Piece(w[0], 0, 64, kit.Pattern(128, 3))),
			fenceCopy(r, w, i+1, 64, true)}
		all[0].FFence = i%2 > 0
		all[2].FComplete = i%3 > 0
		if i%2 > 0 {
			all[3].Opcode = nicspec.OpcodeCopyInvalidate
			segs := kit.Segments(&all[3])
			src := r.Piece(w[0], 0, 64, kit.Pattern(64, 5))
			all[3] = kit.CopyEntry(nicspec.OpcodeCopyInvalidate, src, segs[1])
			all[3].FFence = true
		}
		e := effectsOf(r, all)
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{From: r.BusOf(s), To: r.BusOf(s) + uint64(n), Delay: r.Bed.Cycles(i * 300)}))
		r.Transmit(x, all...)
		e.fenced()
		r.Bed.Faults.Clear()
	}
	require.Equal(r.T, 25, messages)
}

// fencedBehindFailure posts a fenced entry behind entries whose checks or reads fail. The fenced entry must wait for
// their writes and then take full effect.
func fencedBehindFailure(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	x, w := CopySetup(r, 3, 4)
	for i, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultSilent, inject.FaultPoison, inject.FaultNone} {
		r.Quiet()
		bad, none := fenceCopy(r, w, i, 3000, false), fenceCopy(r, w, i+1, 100, true)
		none.Slots[0] ^= 1 // the key does not exist
		all := []nicspec.WqeFields{fenceCopy(r, w, i+2, 900, false), bad, none, fenceCopy(r, w, i+3, 64, true)}
		s := kit.Segments(&bad)[0]
		r.FailOnce(kind, r.BusOf(s), 3000)
		e := effectsOf(r, all)
		first := x.PI
		ends := r.Enqueue(x, all...)
		ends[1].Status = map[inject.FaultKind]nicspec.Status{inject.FaultUR: nicspec.StatusCplUnsupported,
			inject.FaultSilent: nicspec.StatusCplTimeout,
			inject.FaultPoison: nicspec.StatusCplPoison}[kind]
		r.RingDoorbell(&x.Ring)
		r.Ended(x, first, ends)
		e.fenced()
		r.Bed.Faults.Clear()
		d := kit.Segments(&all[3])
		r.CheckDestination(d[1], r.Load(r.BusOf(d[0]), 64))
	}
}

// fencedApart makes a fenced entry wait in one queue. Fenced copies of other channels, and Sends, must not wait for it.
func fencedApart(r *kit.Rig) {
	_, w := CopySetup(r, 8, 2)
	for channel := range nicspec.CopyChannels {
		held, other, send := r.OpenTx(channel, 3), r.OpenTx(channel^1|4, 3), r.OpenTx(channel|32, 3)
		slow := fenceCopy(r, w, channel, 2000, false)
		at := r.BusOf(kit.Segments(&slow)[0])
		r.Bed.Faults.Clear()
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: at, To: at + 2000, Delay: r.Bed.Cycles(6000)}))
		all := []nicspec.WqeFields{slow, fenceCopy(r, w, channel+1, 8, true)}
		e := effectsOf(r, all)
		wait := r.Enqueue(held, all...)
		r.RingDoorbell(&held.Ring)
		r.AwaitFault()
		for i := range 3 {
			r.Transmit(other, fenceCopy(r, w, i, 300, false), fenceCopy(r, w, i+1, 8, true))
			r.Transmit(send, r.Sound(w[1], uint64(i)))
		}
		r.Nothing(&held.Ring)
		r.Ended(held, 0, wait)
		e.fenced()
		r.NoFrames()
		for _, x := range []*kit.TxRing{held, other, send} {
			r.Disable(nicspec.TableTxq, x.Number)
		}
	}
}

// fencedAmongFrames mixes fenced copies with frames and Nops of the same queue.
func fencedAmongFrames(r *kit.Rig) {
	x, w := CopySetup(r, 6, 4)
	rng := rand.New(rand.NewPCG(62, 9))
	for range 6 {
		var all []nicspec.WqeFields
		for i := range 14 {
			switch rng.IntN(4) {
			case 0:
				all = append(all, r.Sound(w[i&1], rng.Uint64()))
			case 1:
				all = append(all, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: i%2 > 0, FFence: true})
			default:
				all = append(all, fenceCopy(r, w, i, 1+rng.IntN(800), rng.IntN(2) > 0))
			}
		}
		var copies []nicspec.WqeFields
		for i := range all {
			if kit.IsCopy(all[i].Opcode) {
				copies = append(copies, all[i])
			}
		}
		e := effectsOf(r, copies)
		r.Transmit(x, all...)
		e.fenced()
	}
	r.Quiet()
	r.NoFrames()
}

// fencedPushed mixes pushed copies, which may never be read from the ring, with copies that are
// read: a fence orders both kinds.
func fencedPushed(r *kit.Rig) {
	x, w := CopySetup(r, 6, 4)
	rng := rand.New(rand.NewPCG(63, 9))
	for round := range 8 {
		first := x.PI
		var all []nicspec.WqeFields
		for i := range 12 {
			all = append(all, fenceCopy(r, w, i, 1+rng.IntN(1500), i > 0 && (i+round)%3 == 0))
		}
		s := kit.Segments(&all[round%3])[0]
		require.NoError(r.T, r.Bed.Faults.Add(kit.FaultDelay(r, r.BusOf(s), int(s.Len), 800)))
		seen := effectsOf(r, all)
		var posts []kit.Posted
		for i := range all {
			e := kit.One(all[i])
			posts = append(posts, r.EnqueueLong(x, e)...)
			if at := x.PI; (i+round)%2 == 0 {
				transmit.PushBlock(r, x, &posts[i].LongEntry, 0)
			} else {
				r.Doorbell(false, x.Number, uint32(at))
			}
		}
		r.Ended(x, first, posts)
		seen.fenced()
		r.Bed.Faults.Clear()
	}
	r.Quiet()
	r.NoFrames()
}

// fenceStatuses sets the fence flag on every opcode, where it is allowed and where it is not.
func fenceStatuses(r *kit.Rig) {
	x, w := CopySetup(r, 4, 4)
	s := r.Piece(w[0], 0, 64, kit.Pattern(640, 1))
	var all []nicspec.WqeFields
	for op := nicspec.OpcodeNop; op <= nicspec.OpcodeCopyInvalidate+1; op++ {
		var e nicspec.WqeFields
		switch {
		case op == nicspec.OpcodeInvalidate:
			e = kit.CopyEntry(op, s)
		case kit.IsCopy(op):
			e = kit.CopyEntry(op, s, r.Destination(w[1], 3, 64, 640))
		default:
			e = r.Sound(w[1], uint64(op))
			e.Opcode = op
		}
		e.FComplete, e.FFence = true, true
		all = append(all, e, r.Sound(w[1], 7))
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}
