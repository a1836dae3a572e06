package reset

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/registers"
	"nictwin/scenarios/suite/contract/transmit"
)

// Checks cover the function-level reset.
var Checks = []kit.Check{
	{Name: "function-level reset/of a device at rest", Rules: "L1 L3 L4", Stalls: kit.Stalled, Run: resetAtRest},
	{Name: "function-level reset/while it lasts", Rules: "L1 L2", Stalls: kit.Calm, Run: resetWindow},
	{Name: "function-level reset/under traffic", Rules: "L2 L3 L4 C1", Stalls: kit.Stalled, Run: resetUnderTraffic},
	{Name: "function-level reset/while reads never come back", Rules: "L2 L5 P6", Stalls: kit.Stalled,
		Run: resetWhileSilent},
	{Name: "function-level reset/of queues in every state", Rules: "L3 L5", Stalls: kit.Stalled, Run: resetStates},
	{Name: "function-level reset/again and again", Rules: "L3 L4", Stalls: kit.Calm, Run: resetOften},
	{Name: "function-level reset/as a frame comes in", Rules: "L2 L4 C3", Stalls: kit.Calm, Run: resetSoon},
}

const flr = 1 << 31 // bit flr of CTRL

// Reset starts a function-level reset and waits for its end.
func Reset(r *kit.Rig) {
	r.T.Helper()
	r.Write(nicspec.RegCtrl, flr|3)
	afterReset(r)
}

// afterReset waits for the end of a function-level reset, and resets the rig's record of the device.
func afterReset(r *kit.Rig) {
	r.T.Helper()
	r.Until("the function-level reset ends", func() bool { return r.Read(nicspec.RegCtrl) == 0 })
	r.Rx, r.Tx, r.Keys, r.Roce = map[int]*kit.RxRing{}, map[int]*kit.TxRing{}, kit.KeyTable{}, nicspec.ResetRocePort
	r.RssKey, r.Indir = [nicspec.RssKeyBytes]byte{}, [nicspec.RssEntries]int{}
}

// asAfterReset checks that everything but counters has its reset value.
func asAfterReset(r *kit.Rig) {
	r.T.Helper()
	for _, w := range registers.Words() {
		if w.Reg.Name != "COUNTER" && w.Reg.Name != "RULE_HITS" {
			require.Equal(r.T, w.Reset(r), r.Read(w.Off), "%s at %#x", w.Reg.Name, w.Off)
		}
	}
	for _, t := range registers.Tables(r) {
		for i := 0; i < registers.Entries(r, t); i += 1 + registers.Entries(r, t)/9 {
			require.Equal(r.T, make([]byte, 4*nicspec.TableWords), r.Entry(t, i), "%v %d", t, i)
		}
		require.Equal(r.T, make([]byte, 4*nicspec.TableWords), r.Entry(t, registers.Entries(r, t)-1), "the last of %v",
			t)
	}
}

// settle writes every register and fills every table.
func settle(r *kit.Rig, seed uint64) {
	r.T.Helper()
	for _, t := range registers.Tables(r) {
		for i := int(seed % 3); i < registers.Entries(r, t); i += 1 + registers.Entries(r, t)/9 {
			r.Commit(t, i, registers.GoodEntry(r, t, seed+uint64(i)))
		}
	}
	for _, w := range registers.Words() {
		if w.Quiet() {
			r.Write(w.Off, w.Still(0xa5a5_a5a5))
		}
	}
	for i := range nicspec.NumAccounts {
		r.Write(nicspec.RegAccountCredit(i), uint32(i))
	}
	r.Synced()
}

func resetAtRest(r *kit.Rig) {
	for seed := range uint64(3) {
		settle(r, seed)
		before := r.Counters()
		Reset(r)
		asAfterReset(r)
		r.Moved("a reset of a device at rest", before, nil)
		Works(r, int(seed))
	}
}

// Works checks that the device receives and sends as after power-up, except for ordinals.
func Works(r *kit.Rig, q int) {
	r.T.Helper()
	x, w := r.TxSetup(q+2, 3)
	y := r.OpenRx(q, 3, nil)
	r.Post(y, 4)
	r.ReceiveAll(q)
	first := r.Ordinal()
	r.Play(kit.FrameOf(100), kit.FrameOf(200))
	r.Delivered(y, first, nicspec.RuleNone)
	r.Delivered(y, first+1, nicspec.RuleNone)
	r.Transmit(x, r.Sound(w[0], 1), r.Sound(w[1], 2))
	r.Quiet()
	r.NoFrames()
}

// resetWindow delays the end of the reset by a read that is answered late, and checks the device's behaviour meanwhile.
func resetWindow(r *kit.Rig) {
	r.Write(nicspec.RegScratch, 77)
	r.ReceiveAll(1)
	x := r.OpenRx(1, 3, nil)
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: x.Base, To: x.Base + 64, Delay: r.Bed.Cycles(6000)}))
	r.Post(x, 2)
	r.AwaitFault()
	before, frame := r.Counters(), kit.FrameOf(300)
	r.Write(nicspec.RegCtrl, flr)
	r.Synced()
	require.EqualValues(r.T, uint32(flr), r.Read(nicspec.RegCtrl))
	r.Write(nicspec.RegScratch, 78)
	r.Write(nicspec.RegCtrl, 3)
	r.Write(nicspec.RegCtrl, flr)
	r.Write2(nicspec.RegDevctl, 0, 0) // two registers in one request
	r.Write(nicspec.RegRxDoorbell(1), 3)
	r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpRead, nicspec.TableKey, 1))
	transmit.Push(r, 1, make([]byte, nicspec.WqeBytes)) // refused during a reset, with or without part push
	r.Synced()
	require.EqualValues(r.T, uint32(flr), r.Read(nicspec.RegCtrl))
	require.EqualValues(r.T, nicspec.DeviceMagic, r.Read(nicspec.RegId))
	r.Play(frame, frame)
	r.Played()
	require.EqualValues(r.T, uint32(flr), r.Read(nicspec.RegCtrl), "a read is outstanding")
	afterReset(r)
	r.Bed.Faults.Clear()
	r.Quiet()
	r.Moved("while a reset lasts", before, kit.Arrived(frame, frame).With(kit.PortCounter(nicspec.CntRxDropDisabled),
		2).With(kit.DevCounter(nicspec.CntRegBad), 7))
	r.Nothing(&x.Ring)
	asAfterReset(r)
	Works(r, 1)
}

// watchLeftovers counts requests of the device. After a reset there must be none that belong to earlier work.
func watchLeftovers(r *kit.Rig) (requests *int) {
	requests = new(int)
	r.Watch = func(c boundary.Crossing) {
		if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && !h.Kind.IsCompletion() {
			*requests++
		}
	}
	return requests
}

// traffic starts more frames and work entries than can end soon.
func traffic(r *kit.Rig, rng *rand.Rand) {
	r.T.Helper()
	x, w := r.TxSetup(4, 6)
	r.ByDest(1, 2)
	r.ReceiveAll(1)
	for q := range 2 {
		r.Post(r.OpenRx(q+1, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders }), 60)
	}
	for range 60 {
		r.Enqueue(x, r.Cut(w, kit.Pattern(60+rng.IntN(3000), rng.Uint64()), 0, 2, rng))
	}
	r.RingDoorbell(&x.Ring)
	for i := range 60 {
		r.Play(kit.FrameTo(1+i%2, kit.FrameOf(60+rng.IntN(1500))))
	}
}

func resetUnderTraffic(r *kit.Rig) {
	rng := rand.New(rand.NewPCG(111, 9))
	for i := range 8 {
		traffic(r, rng)
		r.Run(100 + i*230)
		Reset(r)
		requests, out := watchLeftovers(r), len(r.Out)
		r.Played()
		r.Run(3000)
		require.Zero(r.T, *requests, "TLPs of earlier work")
		require.Len(r.T, r.Out, out, "frames of earlier work")
		r.Watch, r.Out = nil, nil
		asAfterReset(r)
		c := r.Counters()
		sum := c[kit.PortCounter(nicspec.CntRxDelivered)]
		for k := kit.PortCounter(nicspec.CntRxDropDisabled); k <= kit.PortCounter(nicspec.CntRxDropNoDesc); k++ {
			sum += c[k]
		}
		require.Equal(r.T, c[kit.PortCounter(nicspec.CntRxFrames)], sum, "every frame is counted")
		Works(r, i%4)
		r.Disable(nicspec.TableRxq, i%4)
		r.Disable(nicspec.TableTxq, i%4+2)
	}
}

// resetWhileSilent leaves reads of every kind unanswered: they must time out, and then the reset must end.
func resetWhileSilent(r *kit.Rig) {
	for i := range 4 {
		r.Write(nicspec.RegCplTimeout, 2*kit.Timeout)
		x, w := r.TxSetup(4, 4)
		y := r.OpenRx(1, 4, nil)
		e := r.Sound(w[0], 1)
		at := []uint64{y.Base, x.Base, w[0].Bus, w[1].Bus}[i]
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultSilent, From: at, To: at + 1<<20}))
		r.Post(y, 8)
		r.Enqueue(x, e, r.Sound(w[1], 2))
		r.RingDoorbell(&x.Ring)
		r.AwaitFault()
		begin := r.Bed.Engine.Now()
		Reset(r)
		took := r.Bed.Engine.Now() - begin
		require.Less(r.T, took, r.Bed.Cycles(2*kit.Timeout+1024+nicspec.FlrCycles+4*r.OneWay+500))
		r.Bed.Faults.Clear()
		r.Out = nil
		asAfterReset(r)
		Works(r, 3)
		r.Disable(nicspec.TableRxq, 3)
		r.Disable(nicspec.TableTxq, 5)
	}
}

// resetStates resets queues that are off, idle, in error, full of entries that have not started, or being disabled.
func resetStates(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	r.Write(nicspec.RegCtrl, 1)
	x := r.OpenTx(2, 3) // tx_enable is 0: its entries wait
	w := r.Window(1, nicspec.EndpointArm, 1<<16)
	for i := range 8 {
		r.Enqueue(x, r.Sound(w, uint64(i)))
	}
	r.RingDoorbell(&x.Ring)
	bad, off := r.OpenRx(3, 3, nil), r.OpenRx(4, 3, nil)
	r.FailOnce(inject.FaultUR, bad.Base, 128)
	r.Post(bad, 1)
	r.Event(&bad.Ring, nicspec.StatusCplUnsupported, 0)
	r.OpenRx(5, 3, nil)
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: off.Base, To: off.Base + 64, Delay: r.Bed.Cycles(700)}))
	r.Post(off, 2)
	r.Until("its descriptors are read", func() bool { return r.Bed.Faults.Hits() > 1 })
	r.CommandLater(nicspec.TableOpWrite, nicspec.TableRxq, 4, make([]byte, nicspec.RxqEntrySize))
	require.True(r.T, nicspec.TblCmdReg(r.Read(nicspec.RegTblCmd)).Busy())
	Reset(r)
	r.Bed.Faults.Clear()
	asAfterReset(r)
	r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpWrite, 99, 0))
	require.Equal(r.T, nicspec.TableStatusBadTable, r.CommandEnd(), "a refused command")
	Reset(r)
	asAfterReset(r)
	Works(r, 4)
}

// resetOften resets again immediately after the end of a reset.
func resetOften(r *kit.Rig) {
	for i := range 20 {
		r.Write(nicspec.RegScratch, 5)
		if i%2 > 0 {
			r.Post(r.OpenRx(i, 3, nil), 5)
		}
		Reset(r)
		require.Zero(r.T, r.Read(nicspec.RegScratch))
	}
	asAfterReset(r)
	Works(r, 9)
}

// resetSoon resets an idle device while a frame arrives, a cycle later each time. The frame must be dropped or
// delivered as a whole.
func resetSoon(r *kit.Rig) {
	for after := range 40 {
		r.ReceiveAll(1)
		r.Post(r.OpenRx(1, 3, nil), 4)
		r.Quiet()
		r.Play(kit.FrameOf(128))
		r.Run(after)
		Reset(r)
		r.Played()
	}
	Works(r, 1)
}
