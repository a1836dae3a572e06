package isolation

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/traffic"
)

// PortChecks are for NICs with more than one Ethernet port. All other checks use one port and call it port 0. It is the
// NIC's last port, so that on a NIC with two ports they test the second one.
var PortChecks = []kit.Check{
	{Name: "ports/in on both, one queue", Rules: "B3 R1 R11 P9 C1", Stalls: kit.Stalled, Run: oneQueue},
	{Name: "ports/in on both, queues by port", Rules: "R5 R11 H11", Stalls: kit.Stalled, Run: queueByPort},
	{Name: "ports/drops of each port", Rules: "R1 R2 R5 R9 C1 G5", Stalls: kit.Stalled, Run: dropsByPort},
	{Name: "ports/overflow of one port", Rules: "R3 C1", Stalls: kit.Calm, Run: overflowOfOne},
	{Name: "ports/out on both", Rules: "T3 T9 T10 G5", Stalls: kit.Stalled, Run: outOnBoth},
	{Name: "ports/both ways on both", Rules: "B4 B6 B7 T9 R11 C1 C3", Stalls: []int{0, 30, 60, 90},
		Run: everythingOnBoth},
}

// arrivedOn adds to s the counter steps of frames that arrive on a port; n of them are delivered.
func arrivedOn(s kit.Steps, port, n int, frames ...[]byte) kit.Steps {
	s.With(kit.CounterOn(port, nicspec.CntRxFrames), len(frames)).With(kit.CounterOn(port, nicspec.CntRxDelivered),
		n).With(kit.DevCounter(nicspec.CntRxCqe), n)
	for _, f := range frames {
		s.With(kit.CounterOn(port, nicspec.CntRxBytes), len(f))
	}
	return s
}

// portFrames returns frames for a port; their lengths make the ports' frames overlap in every way.
func portFrames(port, n int) [][]byte {
	rng := rand.New(rand.NewPCG(uint64(port), 21))
	var all [][]byte
	for range n {
		all = append(all, kit.FrameOf(60+rng.IntN(700)))
	}
	return all
}

// takeFromBoth takes n completion entries of a queue that receives frames of both ports. The frames of each port must
// come in order.
func takeFromBoth(r *kit.Rig, x *kit.RxRing, n int) {
	r.T.Helper()
	next := [2]int{}
	for range n {
		var e nicspec.RxCqe
		r.Until("a frame of either port is delivered", func() bool { e = r.Next(&x.Ring); return e != nil })
		x.CQI-- // look at the entry without taking it: DeliveredOf takes it
		port := r.PortOf(int(e.Port()))
		require.Less(r.T, port, r.Sizes.Ports, "port in the completion entry %v", e)
		r.DeliveredOf(port, x, next[port], nicspec.RuleNone)
		next[port]++
	}
	r.Nothing(&x.Ring)
}

// oneQueue delivers frames of both ports to the same queue at once. The frames of each port must stay in order, and
// bytes of different frames must not mix.
func oneQueue(r *kit.Rig) {
	x := r.OpenRx(3, 9, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
	r.Post(x, 400)
	r.ReceiveAll(3)
	a, b := portFrames(0, 150), portFrames(1, 150)
	r.Counted("frames on both ports", arrivedOn(arrivedOn(kit.Steps{}, 0, len(a), a...), 1, len(b), b...), func() {
		inPieces(r, a, b)
		takeFromBoth(r, x, len(a)+len(b))
	})
}

// inPieces plays frames on both ports, a few at a time, so that the device can buffer them.
func inPieces(r *kit.Rig, a, b [][]byte) {
	r.T.Helper()
	const few = 25
	for i := 0; i < max(len(a), len(b)); i += few {
		r.PlayOn(0, a[min(i, len(a)):min(i+few, len(a))]...)
		r.PlayOn(1, b[min(i, len(b)):min(i+few, len(b))]...)
		r.Quiet()
	}
}

// portRule writes a rule that steers to a queue, or drops, the frames of a port.
func portRule(r *kit.Rig, index, port int, action nicspec.Action, q int) {
	r.T.Helper()
	f := nicspec.RuleEntryFields{Valid: 1, Action: action, Queue: uint16(q)}
	nicspec.SteerKey(f.Value[:]).SetPort(uint8(r.PortOf(port)))
	nicspec.SteerKey(f.Mask[:]).SetPort(0xff)
	r.Rule(index, f)
}

// queueByPort assigns each port a queue and plays identical frames on both ports, so that only the port
// decides on the queue.
func queueByPort(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	x, y := r.OpenRx(1, 8, nil), r.OpenRx(2, 8, nil)
	r.Post(x, 200)
	r.Post(y, 200)
	portRule(r, 4, 0, nicspec.ActionQueue, 1)
	portRule(r, 9, 1, nicspec.ActionQueue, 2)
	frames := portFrames(0, 100)
	r.Counted("frames by port", arrivedOn(arrivedOn(kit.Steps{}, 0, 100, frames...), 1, 100, frames...), func() {
		inPieces(r, frames, frames)
		for i := range frames {
			r.DeliveredOf(0, x, i, 4)
			r.DeliveredOf(1, y, i, 9)
		}
	})
	require.Equal(r.T, [2]uint64{100, 100}, [2]uint64{r.Read2(nicspec.RegRuleHits(4)), r.Read2(nicspec.RegRuleHits(9))})
	portRule(r, 4, 1, nicspec.ActionQueue, 1) // rule 4 now matches frames of port 1
	r.Rule(9, nicspec.RuleEntryFields{})
	r.Play(frames[0])
	r.Quiet()
	r.PlayOn(1, frames[1])
	r.DeliveredOf(1, x, 100, 4)
	r.Quiet()
	require.EqualValues(r.T, 1, r.Counters()[kit.PortCounter(nicspec.CntRxDropNoRule)])
}

// dropsByPort drops frames on either port while the other delivers: each drop must step the counter of its own port.
func dropsByPort(r *kit.Rig) {
	x := r.OpenRx(5, 6, nil)
	r.ReceiveAll(5)
	good := kit.Blob(200, 1)
	for p := range 2 {
		q := 1 - p
		r.Post(x, 3)
		portRule(r, 0, p, nicspec.ActionDrop, 0)
		first := r.Player(q).Total()
		bad := [][]byte{kit.Blob(59, 1), kit.Blob(300, 2), kit.Blob(9217, 3), kit.Blob(14, 4), kit.Blob(60, 5)}
		want := arrivedOn(arrivedOn(kit.Steps{}, p, 0, bad...), q, 3, good, good, good, kit.Blob(20, 1))
		want.With(kit.CounterOn(p, nicspec.CntRxDropRunt), 2).With(kit.CounterOn(p, nicspec.CntRxDropOversize),
			1).With(kit.CounterOn(p, nicspec.CntRxDropRule), 2)
		r.Counted("drops on one port", want.With(kit.CounterOn(q, nicspec.CntRxDropRunt), 1), func() {
			r.PlayOn(p, bad...)
			r.PlayOn(q, good, good, kit.Blob(20, 1), good)
			for _, i := range []int{0, 1, 3} {
				r.DeliveredOf(q, x, first+i, nicspec.RuleNone)
			}
		})
		r.Rule(0, nicspec.RuleEntryFields{})
		r.Counted("no descriptor",
			arrivedOn(arrivedOn(kit.Steps{}, 0, 0, good), 1, 0, good).With(kit.CounterOn(0, nicspec.CntRxDropNoDesc),
				1).
				With(kit.CounterOn(1, nicspec.CntRxDropNoDesc), 1), func() {
				r.PlayOn(0, good)
				r.PlayOn(1, good)
			})
	}
	r.Nothing(&x.Ring)
}

// overflowOfOne floods one port faster than the device can write: every cycle has a beat, and each
// frame takes three TLPs. The other port loses none.
func overflowOfOne(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	dense, err := traffic.ParsePace("beats", r.Sizes.EthBits, r.Bed.NIC.Period())
	require.NoError(r.T, err)
	require.NoError(r.T, r.Player(0).Load(traffic.Track{Pace: dense}))
	split := func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 30 }
	flooded, calm := r.OpenRx(1, 12, split), r.OpenRx(2, 6, nil)
	r.Post(flooded, 1<<12)
	r.Post(calm, 60)
	portRule(r, 0, 0, nicspec.ActionQueue, 1)
	portRule(r, 1, 1, nicspec.ActionQueue, 2)
	few, first := portFrames(1, 50), r.Player(1).Total()
	before := r.Counters()
	for i := range 4000 {
		r.Play(kit.Blob(60+i%5, uint64(i)))
	}
	for _, f := range few {
		r.PlayOn(1, f)
		r.Run(150)
	}
	for i := range few {
		r.DeliveredOf(1, calm, first+i, 1)
	}
	r.Quiet()
	after := r.Counters()
	step := func(p int, c nicspec.PortCounter) int {
		return int(after[kit.CounterOn(p, c)] - before[kit.CounterOn(p, c)])
	}
	require.Positive(r.T, step(0, nicspec.CntRxDropOverflow), "the flood is more than the device can take")
	require.Equal(r.T, 4000, step(0, nicspec.CntRxDropOverflow)+step(0, nicspec.CntRxDelivered))
	require.Equal(r.T, []int{50, 50, 0}, []int{step(1, nicspec.CntRxFrames), step(1, nicspec.CntRxDelivered),
		step(1, nicspec.CntRxDropOverflow)})
}

// outOnBoth sends from queues whose entries all go to port 0, all to port 1, or to both alternately.
func outOnBoth(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rings := []*kit.TxRing{x, r.OpenTx(2, 6), r.OpenTx(7, 6)}
	rng := rand.New(rand.NewPCG(22, 9))
	ports := []func(i int) int{func(int) int { return 0 }, func(int) int { return 1 },
		func(i int) int { return i / 2 % 2 }}
	want := kit.Steps{kit.DevCounter(nicspec.CntTxCqe): kit.Free}
	var posts [][]kit.Posted
	for k, x := range rings {
		var all []nicspec.WqeFields
		for i := range 60 {
			n := 60 + rng.IntN(800)
			e := r.Cut(w, kit.Pattern(n, rng.Uint64()), rng.IntN(17), 1+rng.IntN(2), rng)
			e.FComplete = rng.IntN(2) > 0 || i == 59
			if e.Port = uint8(ports[k](i)); i%20 == 7 {
				e.Port = uint8(2 + i) // the build has no such port: the entry fails and nothing leaves
				want.With(kit.DevCounter(nicspec.CntTxErr), 1)
			} else {
				want.With(kit.CounterOn(int(e.Port), nicspec.CntTxFrames),
					1).With(kit.CounterOn(int(e.Port), nicspec.CntTxBytes), n)
			}
			all = append(all, e)
		}
		want.With(kit.DevCounter(nicspec.CntTxWqe), len(all))
		posts = append(posts, r.Enqueue(x, all...))
	}
	r.Counted("frames on both ports", want, func() {
		for _, x := range rings {
			r.RingDoorbell(&x.Ring)
		}
		for i, x := range rings {
			r.Ended(x, 0, posts[i])
		}
	})
	r.NoFrames()
}

// everythingOnBoth receives and sends on both ports at once.
func everythingOnBoth(r *kit.Rig) {
	x, w := r.TxSetup(4, 6)
	y := r.OpenTx(5, 6)
	r.ToQueue(6)
	z := r.OpenRx(6, 8, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 77 })
	r.Post(z, 200)
	rng := rand.New(rand.NewPCG(23, 9))
	var a, b []nicspec.WqeFields
	for i := range 60 {
		e := r.Cut(w, kit.Pattern(60+rng.IntN(1500), rng.Uint64()), rng.IntN(17), 2, rng)
		f := r.Cut(w, kit.Pattern(60+rng.IntN(300), rng.Uint64()), 0, 3, rng)
		e.Port, f.Port = uint8(i%2), uint8(i/3%2)
		a, b = append(a, e), append(b, f)
	}
	pa, pb := r.Enqueue(x, a...), r.Enqueue(y, b...)
	r.RingDoorbell(&x.Ring)
	r.RingDoorbell(&y.Ring)
	in := [2][][]byte{portFrames(0, 100), portFrames(1, 100)}
	for i := range 100 {
		r.PlayOn(0, in[0][i])
		r.PlayOn(1, in[1][i])
		r.Run(1000)
	}
	takeFromBoth(r, z, 200)
	r.Ended(x, 0, pa)
	r.Ended(y, 0, pb)
	r.Quiet()
	r.NoFrames()
	r.Moved("both ways", new(kit.Tally),
		sentOn(
			sentOn(
				arrivedOn(arrivedOn(kit.Steps{kit.DevCounter(nicspec.CntTxWqe): 120,
					kit.DevCounter(nicspec.CntTxCqe): 120}, 0, 100, in[0]...), 1, 100, in[1]...), a), b))
}

// sentOn adds the counter steps of work entries that all send, by port.
func sentOn(s kit.Steps, all []nicspec.WqeFields) kit.Steps {
	for i := range all {
		n := int(all[i].InlineLen)
		for _, seg := range kit.Segments(&all[i]) {
			n += int(seg.Len)
		}
		s.With(kit.CounterOn(int(all[i].Port), nicspec.CntTxFrames),
			1).With(kit.CounterOn(int(all[i].Port), nicspec.CntTxBytes), n)
	}
	return s
}
