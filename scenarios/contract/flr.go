package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var flrChecks = []check{
	{"function-level reset/of a device at rest", "L1 L3 L4", stalled, resetAtRest},
	{"function-level reset/while it lasts", "L1 L2", calm, resetWindow},
	{"function-level reset/under traffic", "L2 L3 L4 C1", stalled, resetUnderTraffic},
	{"function-level reset/while reads never come back", "L2 L5 P6", stalled, resetWhileSilent},
	{"function-level reset/of queues in every state", "L3 L5", stalled, resetStates},
	{"function-level reset/again and again", "L3 L4", calm, resetOften},
	{"function-level reset/as a frame comes in", "L2 L4 C3", calm, resetSoon},
}

const flr = 1 << 31 // of CTRL

// reset starts a function-level reset and waits for its end.
func (r *rig) reset() {
	r.t.Helper()
	r.write(nicspec.RegCtrl, flr|3)
	r.afterReset()
}

// afterReset waits for the end of a function-level reset. What checks know of the device begins anew.
func (r *rig) afterReset() {
	r.t.Helper()
	r.until("the function-level reset ends", func() bool { return r.read(nicspec.RegCtrl) == 0 })
	r.rx, r.tx, r.keys, r.roce = map[int]*rxRing{}, map[int]*txRing{}, keyTable{}, nicspec.ResetRocePort
	r.rssKey, r.indir = [nicspec.RssKeyBytes]byte{}, [nicspec.RssEntries]int{}
}

// asAfterReset demands the reset values of everything but counters.
func (r *rig) asAfterReset() {
	r.t.Helper()
	for _, w := range words() {
		if w.reg.Name != "COUNTER" && w.reg.Name != "RULE_HITS" {
			require.Equal(r.t, w.reset(r), r.read(w.off), "%s at %#x", w.reg.Name, w.off)
		}
	}
	for _, t := range r.tables() {
		for i := 0; i < r.entries(t); i += 1 + r.entries(t)/9 {
			require.Equal(r.t, make([]byte, 4*nicspec.TableWords), r.entry(t, i), "%v %d", t, i)
		}
		require.Equal(r.t, make([]byte, 4*nicspec.TableWords), r.entry(t, r.entries(t)-1), "the last of %v", t)
	}
}

// settle writes every register and fills every table.
func (r *rig) settle(seed uint64) {
	r.t.Helper()
	for _, t := range r.tables() {
		for i := int(seed % 3); i < r.entries(t); i += 1 + r.entries(t)/9 {
			r.commit(t, i, r.goodEntry(t, seed+uint64(i)))
		}
	}
	for _, w := range words() {
		if w.quiet() {
			r.write(w.off, w.still(0xa5a5_a5a5))
		}
	}
	for i := range nicspec.NumAccounts {
		r.write(nicspec.RegAccountCredit(i), uint32(i))
	}
	r.synced()
}

func resetAtRest(r *rig) {
	for seed := range uint64(3) {
		r.settle(seed)
		before := r.counters()
		r.reset()
		r.asAfterReset()
		r.moved("a reset of a device at rest", before, nil)
		r.works(int(seed))
	}
}

// works has the device receive and send, as a new one would but for ordinals.
func (r *rig) works(q int) {
	r.t.Helper()
	x, w := r.txSetup(q+2, 3)
	y := r.openRx(q, 3, nil)
	r.post(y, 4)
	r.receiveAll(q)
	first := r.ordinal()
	r.play(frameOf(100), frameOf(200))
	r.delivered(y, first, nicspec.RuleNone)
	r.delivered(y, first+1, nicspec.RuleNone)
	r.transmit(x, r.sound(w[0], 1), r.sound(w[1], 2))
	r.quiet()
	r.noFrames()
}

// resetWindow holds the reset up by a read that is answered late, and looks at what the device does meanwhile.
func resetWindow(r *rig) {
	r.write(nicspec.RegScratch, 77)
	r.receiveAll(1)
	x := r.openRx(1, 3, nil)
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: x.Base, To: x.Base + 64, Delay: r.b.Cycles(6000)}))
	r.post(x, 2)
	r.struck()
	before, frame := r.counters(), frameOf(300)
	r.write(nicspec.RegCtrl, flr)
	r.synced()
	require.EqualValues(r.t, uint32(flr), r.read(nicspec.RegCtrl))
	r.write(nicspec.RegScratch, 78)
	r.write(nicspec.RegCtrl, 3)
	r.write(nicspec.RegCtrl, flr)
	r.write2(nicspec.RegDevctl, 0, 0) // one request
	r.write(nicspec.RegRxDoorbell(1), 3)
	r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpRead, nicspec.TableKey, 1))
	r.push(1, make([]byte, nicspec.WqeBytes)) // 16 DWs: bad with the part, and without
	r.synced()
	require.EqualValues(r.t, uint32(flr), r.read(nicspec.RegCtrl))
	require.EqualValues(r.t, nicspec.DeviceMagic, r.read(nicspec.RegId))
	r.play(frame, frame)
	r.played()
	require.EqualValues(r.t, uint32(flr), r.read(nicspec.RegCtrl), "a read is outstanding")
	r.afterReset()
	r.b.Faults.Clear()
	r.quiet()
	r.moved("while a reset lasts", before, arrived(frame, frame).with(port(nicspec.CntRxDropDisabled), 2).with(dev(nicspec.CntRegBad), 7))
	r.nothing(&x.ring)
	r.asAfterReset()
	r.works(1)
}

// later watches for what may not come any more: requests and frames of a device that was reset.
func (r *rig) later() (requests *int) {
	requests = new(int)
	r.watch = func(c boundary.Crossing) {
		if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && !h.Kind.IsCompletion() {
			*requests++
		}
	}
	return requests
}

// traffic has frames and work entries on their way, more than are done with soon.
func (r *rig) traffic(rng *rand.Rand) {
	r.t.Helper()
	x, w := r.txSetup(4, 6)
	r.byDest(1, 2)
	r.receiveAll(1)
	for q := range 2 {
		r.post(r.openRx(q+1, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders }), 60)
	}
	for range 60 {
		r.enqueue(x, r.cut(w, pattern(60+rng.IntN(3000), rng.Uint64()), 0, 2, rng))
	}
	r.tell(&x.ring)
	for i := range 60 {
		r.play(to(1+i%2, frameOf(60+rng.IntN(1500))))
	}
}

func resetUnderTraffic(r *rig) {
	rng := rand.New(rand.NewPCG(111, 9))
	for i := range 8 {
		r.traffic(rng)
		r.run(100 + i*230)
		r.reset()
		requests, out := r.later(), len(r.out)
		r.played()
		r.run(3000)
		require.Zero(r.t, *requests, "TLPs of earlier work")
		require.Len(r.t, r.out, out, "frames of earlier work")
		r.watch, r.out = nil, nil
		r.asAfterReset()
		c := r.counters()
		sum := c[port(nicspec.CntRxDelivered)]
		for k := port(nicspec.CntRxDropDisabled); k <= port(nicspec.CntRxDropNoDesc); k++ {
			sum += c[k]
		}
		require.Equal(r.t, c[port(nicspec.CntRxFrames)], sum, "every frame is counted")
		r.works(i % 4)
		r.disable(nicspec.TableRxq, i%4)
		r.disable(nicspec.TableTxq, i%4+2)
	}
}

// resetWhileSilent lets reads of every kind never come back: they time out, and the reset ends.
func resetWhileSilent(r *rig) {
	for i := range 4 {
		r.write(nicspec.RegCplTimeout, 2*timeout)
		x, w := r.txSetup(4, 4)
		y := r.openRx(1, 4, nil)
		e := r.sound(w[0], 1)
		at := []uint64{y.Base, x.Base, w[0].bus, w[1].bus}[i]
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultSilent, From: at, To: at + 1<<20}))
		r.post(y, 8)
		r.enqueue(x, e, r.sound(w[1], 2))
		r.tell(&x.ring)
		r.struck()
		begin := r.b.Engine.Now()
		r.reset()
		took := r.b.Engine.Now() - begin
		require.Less(r.t, took, r.b.Cycles(2*timeout+1024+nicspec.FlrCycles+4*r.way+500))
		r.b.Faults.Clear()
		r.out = nil
		r.asAfterReset()
		r.works(3)
		r.disable(nicspec.TableRxq, 3)
		r.disable(nicspec.TableTxq, 5)
	}
}

// resetStates has queues that are off, at rest, in error, full of work that is not begun, and being disabled.
func resetStates(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	r.write(nicspec.RegCtrl, 1)
	x := r.openTx(2, 3) // tx_enable is 0: its entries wait
	w := r.window(1, nicspec.EndpointArm, 1<<16)
	for i := range 8 {
		r.enqueue(x, r.sound(w, uint64(i)))
	}
	r.tell(&x.ring)
	bad, off := r.openRx(3, 3, nil), r.openRx(4, 3, nil)
	r.failOnce(inject.FaultUR, bad.Base, 128)
	r.post(bad, 1)
	r.event(&bad.ring, nicspec.StatusCplUnsupported, 0)
	r.openRx(5, 3, nil)
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: off.Base, To: off.Base + 64, Delay: r.b.Cycles(700)}))
	r.post(off, 2)
	r.until("its descriptors are read", func() bool { return r.b.Faults.Hits() > 1 })
	r.commandLater(nicspec.TableOpWrite, nicspec.TableRxq, 4, make([]byte, nicspec.RxqEntrySize))
	require.True(r.t, nicspec.TblCmdReg(r.read(nicspec.RegTblCmd)).Busy())
	r.reset()
	r.b.Faults.Clear()
	r.asAfterReset()
	r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpWrite, 99, 0))
	require.Equal(r.t, nicspec.TableStatusBadTable, r.commandEnd(), "a refused command")
	r.reset()
	r.asAfterReset()
	r.works(4)
}

// resetOften resets at once after the end of the last reset.
func resetOften(r *rig) {
	for i := range 20 {
		r.write(nicspec.RegScratch, 5)
		if i%2 > 0 {
			r.post(r.openRx(i, 3, nil), 5)
		}
		r.reset()
		require.Zero(r.t, r.read(nicspec.RegScratch))
	}
	r.asAfterReset()
	r.works(9)
}

// resetSoon resets a device at rest to which a frame is on its way, a cycle later each time: the frame is dropped or delivered,
// as a whole.
func resetSoon(r *rig) {
	for after := range 40 {
		r.receiveAll(1)
		r.post(r.openRx(1, 3, nil), 4)
		r.quiet()
		r.play(frameOf(128))
		r.run(after)
		r.reset()
		r.played()
	}
	r.works(1)
}
