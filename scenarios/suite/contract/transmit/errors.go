package transmit

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// TxErrorChecks make reads of payload and of entries fail.
var TxErrorChecks = []kit.Check{
	{Name: "transmit errors/reads of pieces that fail", Rules: "P6 T6 T10 C3", Stalls: kit.Stalled, Run: pieceFaults},
	{Name: "transmit errors/every completion of a read", Rules: "P5 P6 T6", Stalls: kit.Calm, Run: everyCompletion},
	{Name: "transmit errors/several reads of an entry fail", Rules: "T6 P6", Stalls: kit.Stalled, Run: severalPieces},
	{Name: "transmit errors/reads of entries that fail", Rules: "T2 Q4 Q2 C3", Stalls: kit.Stalled, Run: entryFaults},
	{Name: "transmit errors/disabled while reads fail", Rules: "T11 P6", Stalls: kit.Calm, Run: txOffWhileFailing},
	{Name: "transmit errors/memory that is not there", Rules: "P6 T6", Stalls: kit.Calm, Run: piecesOfNothing},
	{Name: "transmit errors/tags rest", Rules: "P2 P6", Stalls: kit.Calm, Run: tagsRest},
	{Name: "transmit errors/CPL_TIMEOUT", Rules: "P6 G4", Stalls: kit.Calm, Run: timeouts},
}

// pieceFaults makes the read of a piece fail in every way, in an entry between good ones and while a second queue
// sends.
func pieceFaults(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	x, w := r.TxSetup(3, 4)
	other := r.OpenTx(4, 6)
	for i, f := range kit.Failures {
		for which := range 3 {
			name := fmt.Sprintf("%v, piece %d", f.Kind, which)
			bad := r.Sound(w[1], uint64(i))
			s := nicspec.DecodeSeg(bad.Slots[which*nicspec.SegSize:])
			entries := []nicspec.WqeFields{r.Sound(w[0], 1), bad, r.Sound(w[0], 2), r.Sound(w[1], 3)}
			var aside []nicspec.WqeFields
			for k := range 10 {
				if f.Kind == inject.FaultTag {
					break // with more reads, another one would probably be using the wrong tag
				}
				aside = append(aside, r.Sound(w[0], uint64(100+k)))
			}
			r.Quiet()
			before := r.Counters()
			// All reads of the entry's pieces start inside its three areas of memory.
			r.FailOnce(f.Kind, w[1].Bus+s.Addr-w[1].Va, 100)
			first, firstOther := x.PI, other.PI
			all, allOther := r.Enqueue(x, entries...), r.Enqueue(other, aside...)
			want, errs := f.Counts(), uint64(1)
			if f.Want == nicspec.StatusOk {
				errs = 0
			} else {
				all[1].Status, all[1].Frame = f.Want, nil
			}
			r.RingDoorbell(&x.Ring)
			r.RingDoorbell(&other.Ring)
			r.Ended(other, firstOther, allOther)
			r.Ended(x, first, all)
			r.Quiet()
			require.Equal(r.T, 1, r.Bed.Faults.Hits(), name)
			n := len(all) + len(allOther)
			r.Moved(name, before, want.With(kit.DevCounter(nicspec.CntTxWqe), n).With(kit.DevCounter(nicspec.CntTxErr),
				int(errs)).With(kit.DevCounter(nicspec.CntTxCqe), n).
				With(kit.PortCounter(nicspec.CntTxFrames), n-int(errs)).With(kit.PortCounter(nicspec.CntTxBytes),
				300*(n-int(errs))))
			r.NoFrames()
		}
	}
	require.Equal(r.T, nicspec.QueueStateRun, nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 3)).State)
}

// everyCompletion makes each completion of a long read fail in turn.
func everyCompletion(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	r.SetDevctl(1, 5, 0)
	x, w := r.TxSetup(3, 4)
	const n = 3000 // one read of several completions of 512 B at most
	for nth := range 6 {
		for _, f := range kit.Failures {
			switch f.Kind {
			case inject.FaultTwice, inject.FaultTag, inject.FaultRequester:
				continue // whether the next completion is a misfit depends on how the device split the read
			}
			want := f.Want
			if f.Kind == inject.FaultShort && nth < 5 {
				want = nicspec.StatusCplMalformed // the next completion does not begin where the shortened one ended
			}
			r.Bed.Faults.Clear()
			s := r.Piece(w[0], 64, 4096, kit.Pattern(n, uint64(nth)))
			at := w[0].Bus + s.Addr - w[0].Va
			require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: f.Kind, From: at, To: at + n, Count: 1, Nth: nth}))
			first := x.PI
			all := r.Enqueue(x, kit.SendEntry(nil, s), r.Sound(w[1], 4))
			all[0].Status, all[0].Frame = want, nil
			r.RingDoorbell(&x.Ring)
			r.Ended(x, first, all)
			r.Quiet()
		}
	}
	r.NoFrames()
}

// ReadFaults are faults of the reads of one entry, all at once; ReadStatuses are the statuses that the entry may then
// have.
var (
	ReadFaults = []inject.FaultKind{inject.FaultUR, inject.FaultPoison, inject.FaultSilent, inject.FaultCA,
		inject.FaultByteCount}
	ReadStatuses = []nicspec.Status{nicspec.StatusCplUnsupported, nicspec.StatusCplPoison, nicspec.StatusCplTimeout,
		nicspec.StatusCplAbort, nicspec.StatusCplMalformed}
)

// severalPieces makes all reads of an entry fail, each in a different way. The entry must end with one of their
// statuses.
func severalPieces(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	x, w := r.TxSetup(3, 4)
	for i := range 10 {
		e := r.Sound(w[0], uint64(i))
		r.Bed.Faults.Clear()
		for k := range 3 {
			s := nicspec.DecodeSeg(e.Slots[k*nicspec.SegSize:])
			at := w[0].Bus + s.Addr - w[0].Va
			require.NoError(r.T,
				r.Bed.Faults.Add(inject.Fault{Kind: ReadFaults[(i+k*(1+i/5))%len(ReadFaults)], From: at, To: at + 100}))
		}
		r.Enqueue(x, e, r.Sound(w[1], 9))
		r.RingDoorbell(&x.Ring)
		got := r.TxCqe(x)
		require.Contains(r.T, ReadStatuses, got.Status())
		require.Equal(r.T, nicspec.StatusOk, r.TxCqe(x).Status())
		r.Left(3)
		r.Quiet()
		r.NoFrames()
	}
}

// entryFaults makes reads of a queue's work entries fail in every way, beside another queue that is
// not affected.
func entryFaults(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	good, w := r.TxSetup(1, 4)
	for i, f := range kit.Failures {
		x := r.OpenTx(2, 3)
		if i%2 > 0 { // some entries end before the read that fails
			r.Transmit(x, r.Sound(w[0], 1), r.Sound(w[0], 2), r.Sound(w[0], 3))
		}
		r.Quiet()
		before := r.Counters()
		r.FailOnce(f.Kind, x.Base, 8*nicspec.WqeBytes)
		first := x.PI
		all := r.Enqueue(x, r.Sound(w[0], 4))
		r.RingDoorbell(&x.Ring)
		r.AwaitFault()
		if f.Want == nicspec.StatusOk {
			r.Ended(x, first, all)
			r.Disable(nicspec.TableTxq, 2)
			continue
		}
		r.Transmit(good, r.Sound(w[1], 6), r.Sound(w[1], 7))
		r.Event(&x.Ring, f.Want, first)
		r.RingDoorbell(&x.Ring)
		r.Quiet()
		r.Moved(f.Kind.String(), before,
			f.Counts().With(kit.DevCounter(nicspec.CntTxWqe), 2).With(kit.DevCounter(nicspec.CntTxCqe), 3).
				With(kit.PortCounter(nicspec.CntTxFrames), 2).With(kit.PortCounter(nicspec.CntTxBytes),
				600).With(kit.DevCounter(nicspec.CntQueueErr), 1).With(kit.DevCounter(nicspec.CntDbBad), 1))
		e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2))
		require.Equal(r.T, nicspec.QueueStateError, e.State, "%v", f.Kind)
		require.Equal(r.T, f.Want, e.Error, "%v", f.Kind)
		again := kit.Encode(&nicspec.TxqEntryFields{Enable: 1, LogSize: 3, RingBase: x.Base, CqBase: x.CQ},
			nicspec.TxqEntrySize)
		require.Equal(r.T, nicspec.TableStatusEnabled, r.Command(nicspec.TableOpWrite, nicspec.TableTxq, 2, again))
		r.Bed.Faults.Clear()
		r.Disable(nicspec.TableTxq, 2)
		e = nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2))
		require.Equal(r.T, [2]uint8{uint8(nicspec.QueueStateOff), 0}, [2]uint8{uint8(e.State), uint8(e.Error)})
		r.Transmit(r.OpenTx(2, 3), r.Sound(w[0], 8))
		r.Disable(nicspec.TableTxq, 2)
	}
}

// txOffWhileFailing disables a queue whose reads wait for completions that fail or never come. Entries that have
// started must end.
func txOffWhileFailing(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	_, w := r.TxSetup(1, 4)
	for _, f := range []kit.Failure{{Kind: inject.FaultUR, Want: nicspec.StatusCplUnsupported, Strays: 0},
		{Kind: inject.FaultSilent, Want: nicspec.StatusCplTimeout, Strays: 0}} {
		for _, piece := range []bool{true, false} {
			x := r.OpenTx(2, 3)
			e := r.Sound(w[0], 4)
			at, n := x.Base, 64
			if piece {
				s := nicspec.DecodeSeg(e.Slots[:])
				at, n = w[0].Bus+s.Addr-w[0].Va, 100
			}
			r.Bed.Faults.Clear()
			require.NoError(r.T,
				r.Bed.Faults.Add(inject.Fault{Kind: f.Kind, From: at, To: at + uint64(n), Count: 1,
					Delay: r.Bed.Cycles(600)}))
			r.Enqueue(x, e)
			r.RingDoorbell(&x.Ring)
			r.AwaitFault()
			r.Disable(nicspec.TableTxq, 2)
			if piece {
				require.Equal(r.T, f.Want, r.TxCqe(x).Status(), "an entry that was started ends as usual")
			}
			r.Nothing(&x.Ring)
			r.Run(3 * kit.Timeout)
			r.Nothing(&x.Ring)
			r.Quiet()
			r.NoFrames()
		}
	}
}

func piecesOfNothing(r *kit.Rig) {
	x, w := r.TxSetup(3, 4)
	r.Key(9, nicspec.KeyEntryFields{Valid: 1, RightRead: true, VaBase: 0, Length: 1 << 40,
		BusBase: 5 << nicspec.EndpointShift})
	r.Key(10, nicspec.KeyEntryFields{Valid: 1, RightRead: true, VaBase: 0, Length: 1 << 44,
		BusBase: kit.MemoryBytes - 100})
	all := EnqueueFailing(r, x, nicspec.StatusCplUnsupported,
		kit.SendEntry(nil, nicspec.SegFields{Key: 9, Len: 100, Addr: 4000}),
		kit.SendEntry(nil, nicspec.SegFields{Key: 10, Len: 200, Addr: 0}), // memory ends in the middle of the piece
		kit.SendEntry(kit.Pattern(5, 1), r.Piece(w[0], 0, 64, kit.Pattern(100, 1)),
			nicspec.SegFields{Key: 9, Len: 9000, Addr: 1}))
	r.RingDoorbell(&x.Ring)
	r.Ended(x, 0, all)
	r.Quiet()
	r.NoFrames()
}

// EnqueueFailing posts entries that will end with the given status, since their reads fail.
func EnqueueFailing(r *kit.Rig, x *kit.TxRing, status nicspec.Status, entries ...nicspec.WqeFields) (all []kit.Posted) {
	r.T.Helper()
	for i := range entries {
		entries[i].WqeId = uint32(i) + 0x55
		e := kit.One(entries[i])
		r.StoreEntry(x, x.PI, &e)
		x.PI++
		all = append(all, kit.Posted{LongEntry: e, Status: status})
	}
	return all
}

// tagsRest makes every read fail in a way after which its tag must not be used again for some time [P6], until no tag
// is free. The device must wait for one, and then continue.
func tagsRest(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, 4*kit.Timeout)
	x, w := r.TxSetup(3, 8)
	for _, kind := range []inject.FaultKind{inject.FaultPoison, inject.FaultLowerAddr} {
		r.Bed.Faults.Clear()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: kind, From: w[1].Bus, To: w[1].Bus + uint64(w[1].Length), Count: 300}))
		struck, first := 0, x.PI
		for range 2 {
			var all []nicspec.WqeFields
			for i := range 100 {
				all = append(all, r.Sound(w[1], uint64(i)))
			}
			r.Enqueue(x, all...)
			r.RingDoorbell(&x.Ring)
			for range all {
				if r.TxCqe(x).Status() != nicspec.StatusOk {
					struck++
				}
			}
		}
		require.NotZero(r.T, struck)
		require.Equal(r.T, first+200, x.PI)
		r.Bed.Faults.Clear()
		r.Out = nil
		r.Transmit(x, r.Sound(w[1], 5), r.Sound(w[0], 6))
	}
}

// timeouts answers reads shortly before the timeout, and shortly after.
func timeouts(r *kit.Rig) {
	r.SetDevctl(1, 5, 0) // so that a read has several completions
	x, w := r.TxSetup(3, 4)
	for _, c := range []struct{ set, limit uint32 }{{0, 1024}, {1, 1024}, {1024, 1024}, {3000, 3000}, {9000, 9000}} {
		r.Quiet()
		r.Write(nicspec.RegCplTimeout, c.set)
		r.Synced()
		const way = 400 // cycles from the device to memory and back
		for _, a := range []struct {
			delay, gap int // cycles until the answer, and until its second completion
			late       bool
		}{
			{int(c.limit) - way, 0, false}, {int(c.limit) + 1200, 0, true}, {300, int(c.limit) - way - 300, false},
			{int(c.limit) - way, 1700, true}, // the time-out counts from the request, not from the last completion
		} {
			s := r.Piece(w[0], 0, 4096, kit.Pattern(1500, uint64(c.set)))
			at := w[0].Bus + s.Addr - w[0].Va
			r.Bed.Faults.Clear()
			require.NoError(r.T,
				r.Bed.Faults.Add(inject.Fault{From: at, To: at + 1, Count: 1, Nth: 1, Delay: r.Bed.Cycles(a.delay),
					Gap: r.Bed.Cycles(a.gap)}))
			first := x.PI
			all := r.Enqueue(x, kit.SendEntry(nil, s))
			if a.late {
				all[0].Status, all[0].Frame = nicspec.StatusCplTimeout, nil
			}
			r.RingDoorbell(&x.Ring)
			r.Ended(x, first, all)
			r.Quiet()
		}
	}
	r.NoFrames()
}
