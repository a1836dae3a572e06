package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/scenarios/traffic"
)

// portChecks are for NICs with more than one Ethernet port. All other checks use one port, which they know as port 0: the
// NIC's last one, so that those of a NIC with two ports test its second.
var portChecks = []check{
	{"ports/in on both, one queue", "B3 R1 R11 P9 C1", stalled, oneQueue},
	{"ports/in on both, queues by port", "R5 R11 H11", stalled, queueByPort},
	{"ports/drops of each port", "R1 R2 R5 R9 C1 G5", stalled, dropsByPort},
	{"ports/overflow of one port", "R3 C1", calm, overflowOfOne},
	{"ports/out on both", "T3 T9 T10 G5", stalled, outOnBoth},
	{"ports/both ways on both", "B4 B6 B7 T9 R11 C1 C3", []int{0, 30, 60, 90}, everythingOnBoth},
}

// portOf is the NIC's number of a port as checks count them, or the other way round: port 0 is the one under test. Ports
// beyond the build are what they are.
func (r *rig) portOf(p int) int {
	if p < r.sizes.Ports {
		return p ^ r.eth
	}
	return p
}

// counterOf is the NIC's index of a counter as checks count them, or the other way round.
func (r *rig) counterOf(i int) int {
	if _, p := nicspec.CounterAt(i); p >= 0 {
		return i + (r.portOf(p)-p)*nicspec.CounterPortStride
	}
	return i
}

func (r *rig) player(port int) *traffic.Player { return r.b.Players[r.portOf(port)] }

// playOn plays frames in on a port, back to back after those before.
func (r *rig) playOn(port int, frames ...[]byte) {
	for _, f := range frames {
		r.player(port).Play(traffic.Frame{Data: f})
	}
}

// allPlayed reports whether every frame has been played in, on all ports.
func (r *rig) allPlayed() bool {
	for _, p := range r.b.Players {
		if p.Sent() != p.Total() {
			return false
		}
	}
	return true
}

// arrivedOn is the steps that frames make on a port whatever becomes of them, with the first n delivered.
func (s steps) arrivedOn(port, n int, frames ...[]byte) steps {
	s.with(on(port, nicspec.CntRxFrames), len(frames)).with(on(port, nicspec.CntRxDelivered), n).with(dev(nicspec.CntRxCqe), n)
	for _, f := range frames {
		s.with(on(port, nicspec.CntRxBytes), len(f))
	}
	return s
}

// portFrames are frames for a port, of lengths that have the ports' frames meet in every way.
func portFrames(port, n int) [][]byte {
	rng := rand.New(rand.NewPCG(uint64(port), 21))
	var all [][]byte
	for range n {
		all = append(all, frameOf(60+rng.IntN(700)))
	}
	return all
}

// either takes the completion entries of a queue that gets frames of both ports, in the order of the ordinals of each.
func (r *rig) either(x *rxRing, n int) {
	r.t.Helper()
	next := [2]int{}
	for range n {
		var e nicspec.RxCqe
		r.until("a frame of either port is delivered", func() bool { e = r.next(&x.ring); return e != nil })
		x.CQI-- // looked at, and taken by deliveredOf
		port := r.portOf(int(e.Port()))
		require.Less(r.t, port, r.sizes.Ports, "port in the completion entry %v", e)
		r.deliveredOf(port, x, next[port], nicspec.RuleNone)
		next[port]++
	}
	r.nothing(&x.ring)
}

// oneQueue has frames of both ports in one queue, at once: those of each port in their order, none mixed with another.
func oneQueue(r *rig) {
	x := r.openRx(3, 9, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
	r.post(x, 400)
	r.receiveAll(3)
	a, b := portFrames(0, 150), portFrames(1, 150)
	r.counted("frames on both ports", steps{}.arrivedOn(0, len(a), a...).arrivedOn(1, len(b), b...), func() {
		r.inPieces(a, b)
		r.either(x, len(a)+len(b))
	})
}

// inPieces plays on both ports, a few frames at a time, so that the device's buffers hold them.
func (r *rig) inPieces(a, b [][]byte) {
	r.t.Helper()
	const few = 25
	for i := 0; i < max(len(a), len(b)); i += few {
		r.playOn(0, a[min(i, len(a)):min(i+few, len(a))]...)
		r.playOn(1, b[min(i, len(b)):min(i+few, len(b))]...)
		r.quiet()
	}
}

// portRule sends frames of a port to a queue, or drops them.
func (r *rig) portRule(index, port int, action nicspec.Action, q int) {
	r.t.Helper()
	f := nicspec.RuleEntryFields{Valid: 1, Action: action, Queue: uint16(q)}
	nicspec.SteerKey(f.Value[:]).SetPort(uint8(r.portOf(port)))
	nicspec.SteerKey(f.Mask[:]).SetPort(0xff)
	r.rule(index, f)
}

// queueByPort has a queue for each port: the same frames, told apart by the port alone.
func queueByPort(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	x, y := r.openRx(1, 8, nil), r.openRx(2, 8, nil)
	r.post(x, 200)
	r.post(y, 200)
	r.portRule(4, 0, nicspec.ActionQueue, 1)
	r.portRule(9, 1, nicspec.ActionQueue, 2)
	frames := portFrames(0, 100)
	r.counted("frames by port", steps{}.arrivedOn(0, 100, frames...).arrivedOn(1, 100, frames...), func() {
		r.inPieces(frames, frames)
		for i := range frames {
			r.deliveredOf(0, x, i, 4)
			r.deliveredOf(1, y, i, 9)
		}
	})
	require.Equal(r.t, [2]uint64{100, 100}, [2]uint64{r.read2(nicspec.RegRuleHits(4)), r.read2(nicspec.RegRuleHits(9))})
	r.portRule(4, 1, nicspec.ActionQueue, 1) // now the lower rule takes the other port's
	r.rule(9, nicspec.RuleEntryFields{})
	r.play(frames[0])
	r.quiet()
	r.playOn(1, frames[1])
	r.deliveredOf(1, x, 100, 4)
	r.quiet()
	require.EqualValues(r.t, 1, r.counters()[port(nicspec.CntRxDropNoRule)])
}

// dropsByPort drops frames on either port while the other delivers: each cause steps the counter of its port.
func dropsByPort(r *rig) {
	x := r.openRx(5, 6, nil)
	r.receiveAll(5)
	good := blob(200, 1)
	for p := range 2 {
		q := 1 - p
		r.post(x, 3)
		r.portRule(0, p, nicspec.ActionDrop, 0)
		first := r.player(q).Total()
		bad := [][]byte{blob(59, 1), blob(300, 2), blob(9217, 3), blob(14, 4), blob(60, 5)}
		want := steps{}.arrivedOn(p, 0, bad...).arrivedOn(q, 3, good, good, good, blob(20, 1))
		want.with(on(p, nicspec.CntRxDropRunt), 2).with(on(p, nicspec.CntRxDropOversize), 1).with(on(p, nicspec.CntRxDropRule), 2)
		r.counted("drops on one port", want.with(on(q, nicspec.CntRxDropRunt), 1), func() {
			r.playOn(p, bad...)
			r.playOn(q, good, good, blob(20, 1), good)
			for _, i := range []int{0, 1, 3} {
				r.deliveredOf(q, x, first+i, nicspec.RuleNone)
			}
		})
		r.rule(0, nicspec.RuleEntryFields{})
		r.counted("no descriptor", steps{}.arrivedOn(0, 0, good).arrivedOn(1, 0, good).with(on(0, nicspec.CntRxDropNoDesc), 1).
			with(on(1, nicspec.CntRxDropNoDesc), 1), func() {
			r.playOn(0, good)
			r.playOn(1, good)
		})
	}
	r.nothing(&x.ring)
}

// overflowOfOne floods one port with frames that the device cannot take as fast: every cycle has a beat, and each frame leaves
// in three TLPs. The other port loses none.
func overflowOfOne(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	dense, err := traffic.ParsePace("beats", r.sizes.EthBits, r.b.NIC.Period())
	require.NoError(r.t, err)
	require.NoError(r.t, r.player(0).Load(traffic.Track{Pace: dense}))
	split := func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 30 }
	flooded, calm := r.openRx(1, 12, split), r.openRx(2, 6, nil)
	r.post(flooded, 1<<12)
	r.post(calm, 60)
	r.portRule(0, 0, nicspec.ActionQueue, 1)
	r.portRule(1, 1, nicspec.ActionQueue, 2)
	few, first := portFrames(1, 50), r.player(1).Total()
	before := r.counters()
	for i := range 4000 {
		r.play(blob(60+i%5, uint64(i)))
	}
	for _, f := range few {
		r.playOn(1, f)
		r.run(150)
	}
	for i := range few {
		r.deliveredOf(1, calm, first+i, 1)
	}
	r.quiet()
	after := r.counters()
	step := func(p int, c nicspec.PortCounter) int { return int(after[on(p, c)] - before[on(p, c)]) }
	require.Positive(r.t, step(0, nicspec.CntRxDropOverflow), "the flood is more than the device can take")
	require.Equal(r.t, 4000, step(0, nicspec.CntRxDropOverflow)+step(0, nicspec.CntRxDelivered))
	require.Equal(r.t, []int{50, 50, 0}, []int{step(1, nicspec.CntRxFrames), step(1, nicspec.CntRxDelivered), step(1, nicspec.CntRxDropOverflow)})
}

// outOnBoth sends from queues whose entries go to one port, to the other, and to both in turn.
func outOnBoth(r *rig) {
	x, w := r.txSetup(1, 6)
	rings := []*txRing{x, r.openTx(2, 6), r.openTx(7, 6)}
	rng := rand.New(rand.NewPCG(22, 9))
	ports := []func(i int) int{func(int) int { return 0 }, func(int) int { return 1 }, func(i int) int { return i / 2 % 2 }}
	want := steps{dev(nicspec.CntTxCqe): free}
	var posts [][]posted
	for k, x := range rings {
		var all []nicspec.WqeFields
		for i := range 60 {
			n := 60 + rng.IntN(800)
			e := r.cut(w, pattern(n, rng.Uint64()), rng.IntN(17), 1+rng.IntN(2), rng)
			e.FComplete = rng.IntN(2) > 0 || i == 59
			if e.Port = uint8(ports[k](i)); i%20 == 7 {
				e.Port = uint8(2 + i) // beyond the build: the entry fails and nothing leaves
				want.with(dev(nicspec.CntTxErr), 1)
			} else {
				want.with(on(int(e.Port), nicspec.CntTxFrames), 1).with(on(int(e.Port), nicspec.CntTxBytes), n)
			}
			all = append(all, e)
		}
		want.with(dev(nicspec.CntTxWqe), len(all))
		posts = append(posts, r.enqueue(x, all...))
	}
	r.counted("frames on both ports", want, func() {
		for _, x := range rings {
			r.tell(&x.ring)
		}
		for i, x := range rings {
			r.ended(x, 0, posts[i])
		}
	})
	r.noFrames()
}

// everythingOnBoth receives and sends on both ports at once.
func everythingOnBoth(r *rig) {
	x, w := r.txSetup(4, 6)
	y := r.openTx(5, 6)
	r.toQueue(6)
	z := r.openRx(6, 8, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 77 })
	r.post(z, 200)
	rng := rand.New(rand.NewPCG(23, 9))
	var a, b []nicspec.WqeFields
	for i := range 60 {
		e := r.cut(w, pattern(60+rng.IntN(1500), rng.Uint64()), rng.IntN(17), 2, rng)
		f := r.cut(w, pattern(60+rng.IntN(300), rng.Uint64()), 0, 3, rng)
		e.Port, f.Port = uint8(i%2), uint8(i/3%2)
		a, b = append(a, e), append(b, f)
	}
	pa, pb := r.enqueue(x, a...), r.enqueue(y, b...)
	r.tell(&x.ring)
	r.tell(&y.ring)
	in := [2][][]byte{portFrames(0, 100), portFrames(1, 100)}
	for i := range 100 {
		r.playOn(0, in[0][i])
		r.playOn(1, in[1][i])
		r.run(1000)
	}
	r.either(z, 200)
	r.ended(x, 0, pa)
	r.ended(y, 0, pb)
	r.quiet()
	r.noFrames()
	r.moved("both ways", new(tally), steps{dev(nicspec.CntTxWqe): 120, dev(nicspec.CntTxCqe): 120}.
		arrivedOn(0, 100, in[0]...).arrivedOn(1, 100, in[1]...).sentOn(a).sentOn(b))
}

// sentOn adds the steps of work entries that all send, by their ports.
func (s steps) sentOn(all []nicspec.WqeFields) steps {
	for i := range all {
		n := int(all[i].InlineLen)
		for _, seg := range segments(&all[i]) {
			n += int(seg.Len)
		}
		s.with(on(int(all[i].Port), nicspec.CntTxFrames), 1).with(on(int(all[i].Port), nicspec.CntTxBytes), n)
	}
	return s
}
