package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

var txErrorChecks = []check{
	{"transmit errors/reads of pieces that fail", "P6 T6 T10 C3", stalled, pieceFaults},
	{"transmit errors/every completion of a read", "P5 P6 T6", calm, everyCompletion},
	{"transmit errors/several reads of an entry fail", "T6 P6", stalled, severalPieces},
	{"transmit errors/reads of entries that fail", "T2 Q4 Q2 C3", stalled, entryFaults},
	{"transmit errors/disabled while reads fail", "T11 P6", calm, txOffWhileFailing},
	{"transmit errors/memory that is not there", "P6 T6", calm, piecesOfNothing},
	{"transmit errors/tags rest", "P2 P6", calm, tagsRest},
	{"transmit errors/CPL_TIMEOUT", "P6 G4", calm, timeouts},
}

// pieceFaults lets reads of pieces fail in every way, of entries between others and beside another queue.
func pieceFaults(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	x, w := r.txSetup(3, 4)
	other := r.openTx(4, 6)
	for i, f := range failures {
		for which := range 3 {
			name := fmt.Sprintf("%v, piece %d", f.kind, which)
			bad := r.sound(w[1], uint64(i))
			s := nicspec.DecodeSeg(bad.Slots[which*nicspec.SegSize:])
			entries := []nicspec.WqeFields{r.sound(w[0], 1), bad, r.sound(w[0], 2), r.sound(w[1], 3)}
			var aside []nicspec.WqeFields
			for k := range 10 {
				if f.kind == inject.FaultTag {
					break // the fewer reads, the less likely that the other tag is in use
				}
				aside = append(aside, r.sound(w[0], uint64(100+k)))
			}
			r.quiet()
			before := r.counters()
			// All reads of the entry's pieces start inside its three areas of memory.
			r.failOnce(f.kind, w[1].bus+s.Addr-w[1].va, 100)
			first, firstOther := x.PI, other.PI
			all, allOther := r.enqueue(x, entries...), r.enqueue(other, aside...)
			want, errs := f.counts(), uint64(1)
			if f.want == nicspec.StatusOk {
				errs = 0
			} else {
				all[1].status, all[1].frame = f.want, nil
			}
			r.tell(&x.ring)
			r.tell(&other.ring)
			r.ended(other, firstOther, allOther)
			r.ended(x, first, all)
			r.quiet()
			require.Equal(r.t, 1, r.b.Faults.Hits(), name)
			n := len(all) + len(allOther)
			r.moved(name, before, want.with(dev(nicspec.CntTxWqe), n).with(dev(nicspec.CntTxErr), int(errs)).with(dev(nicspec.CntTxCqe), n).
				with(port(nicspec.CntTxFrames), n-int(errs)).with(port(nicspec.CntTxBytes), 300*(n-int(errs))))
			r.noFrames()
		}
	}
	require.Equal(r.t, nicspec.QueueStateRun, nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 3)).State)
}

// everyCompletion strikes each completion of a long read in turn.
func everyCompletion(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	r.setDevctl(1, 5, 0)
	x, w := r.txSetup(3, 4)
	const n = 3000 // one read of several completions of 512 B at most
	for nth := range 6 {
		for _, f := range failures {
			switch f.kind {
			case inject.FaultTwice, inject.FaultTag, inject.FaultRequester:
				continue // what follows then is a misfit, or the end, by where the device split
			}
			want := f.want
			if f.kind == inject.FaultShort && nth < 5 {
				want = nicspec.StatusCplMalformed // the next completion does not go on where this one ended
			}
			r.b.Faults.Clear()
			s := r.piece(w[0], 64, 4096, pattern(n, uint64(nth)))
			at := w[0].bus + s.Addr - w[0].va
			require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: f.kind, From: at, To: at + n, Count: 1, Nth: nth}))
			first := x.PI
			all := r.enqueue(x, sendEntry(nil, s), r.sound(w[1], 4))
			all[0].status, all[0].frame = want, nil
			r.tell(&x.ring)
			r.ended(x, first, all)
			r.quiet()
		}
	}
	r.noFrames()
}

// Ways to fail of reads that fail together, and the statuses that an entry may end with then.
var (
	readFaults   = []inject.FaultKind{inject.FaultUR, inject.FaultPoison, inject.FaultSilent, inject.FaultCA, inject.FaultByteCount}
	readStatuses = []nicspec.Status{nicspec.StatusCplUnsupported, nicspec.StatusCplPoison, nicspec.StatusCplTimeout,
		nicspec.StatusCplAbort, nicspec.StatusCplMalformed}
)

// severalPieces lets all reads of an entry fail, each in its own way: it ends with one of them.
func severalPieces(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	x, w := r.txSetup(3, 4)
	for i := range 10 {
		e := r.sound(w[0], uint64(i))
		r.b.Faults.Clear()
		for k := range 3 {
			s := nicspec.DecodeSeg(e.Slots[k*nicspec.SegSize:])
			at := w[0].bus + s.Addr - w[0].va
			require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: readFaults[(i+k*(1+i/5))%len(readFaults)], From: at, To: at + 100}))
		}
		r.enqueue(x, e, r.sound(w[1], 9))
		r.tell(&x.ring)
		got := r.txCqe(x)
		require.Contains(r.t, readStatuses, got.Status())
		require.Equal(r.t, nicspec.StatusOk, r.txCqe(x).Status())
		r.left(3)
		r.quiet()
		r.noFrames()
	}
}

// entryFaults lets reads of a queue's work entries fail in every way, while another queue goes on.
func entryFaults(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	good, w := r.txSetup(1, 4)
	for i, f := range failures {
		x := r.openTx(2, 3)
		if i%2 > 0 { // some entries end before
			r.transmit(x, r.sound(w[0], 1), r.sound(w[0], 2), r.sound(w[0], 3))
		}
		r.quiet()
		before := r.counters()
		r.failOnce(f.kind, x.Base, 8*nicspec.WqeBytes)
		first := x.PI
		all := r.enqueue(x, r.sound(w[0], 4))
		r.tell(&x.ring)
		r.struck()
		if f.want == nicspec.StatusOk {
			r.ended(x, first, all)
			r.disable(nicspec.TableTxq, 2)
			continue
		}
		r.transmit(good, r.sound(w[1], 6), r.sound(w[1], 7))
		r.event(&x.ring, f.want, first)
		r.tell(&x.ring)
		r.quiet()
		r.moved(f.kind.String(), before, f.counts().with(dev(nicspec.CntTxWqe), 2).with(dev(nicspec.CntTxCqe), 3).
			with(port(nicspec.CntTxFrames), 2).with(port(nicspec.CntTxBytes), 600).with(dev(nicspec.CntQueueErr), 1).with(dev(nicspec.CntDbBad), 1))
		e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2))
		require.Equal(r.t, nicspec.QueueStateError, e.State, "%v", f.kind)
		require.Equal(r.t, f.want, e.Error, "%v", f.kind)
		again := encode(&nicspec.TxqEntryFields{Enable: 1, LogSize: 3, RingBase: x.Base, CqBase: x.CQ}, nicspec.TxqEntrySize)
		require.Equal(r.t, nicspec.TableStatusEnabled, r.command(nicspec.TableOpWrite, nicspec.TableTxq, 2, again))
		r.b.Faults.Clear()
		r.disable(nicspec.TableTxq, 2)
		e = nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2))
		require.Equal(r.t, [2]uint8{uint8(nicspec.QueueStateOff), 0}, [2]uint8{uint8(e.State), uint8(e.Error)})
		r.transmit(r.openTx(2, 3), r.sound(w[0], 8))
		r.disable(nicspec.TableTxq, 2)
	}
}

// txOffWhileFailing disables a queue whose reads wait for completions that fail or never come: started entries end.
func txOffWhileFailing(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	_, w := r.txSetup(1, 4)
	for _, f := range []failure{{inject.FaultUR, nicspec.StatusCplUnsupported, 0}, {inject.FaultSilent, nicspec.StatusCplTimeout, 0}} {
		for _, piece := range []bool{true, false} {
			x := r.openTx(2, 3)
			e := r.sound(w[0], 4)
			at, n := x.Base, 64
			if piece {
				s := nicspec.DecodeSeg(e.Slots[:])
				at, n = w[0].bus+s.Addr-w[0].va, 100
			}
			r.b.Faults.Clear()
			require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: f.kind, From: at, To: at + uint64(n), Count: 1, Delay: r.b.Cycles(600)}))
			r.enqueue(x, e)
			r.tell(&x.ring)
			r.struck()
			r.disable(nicspec.TableTxq, 2)
			if piece {
				require.Equal(r.t, f.want, r.txCqe(x).Status(), "an entry that was started ends as usual")
			}
			r.nothing(&x.ring)
			r.run(3 * timeout)
			r.nothing(&x.ring)
			r.quiet()
			r.noFrames()
		}
	}
}

func piecesOfNothing(r *rig) {
	x, w := r.txSetup(3, 4)
	r.key(9, nicspec.KeyEntryFields{Valid: 1, RightRead: true, VaBase: 0, Length: 1 << 40, BusBase: 5 << nicspec.EndpointShift})
	r.key(10, nicspec.KeyEntryFields{Valid: 1, RightRead: true, VaBase: 0, Length: 1 << 44, BusBase: memoryBytes - 100})
	all := r.enqueueFailing(x, nicspec.StatusCplUnsupported,
		sendEntry(nil, nicspec.SegFields{Key: 9, Len: 100, Addr: 4000}),
		sendEntry(nil, nicspec.SegFields{Key: 10, Len: 200, Addr: 0}), // half of it is there
		sendEntry(pattern(5, 1), r.piece(w[0], 0, 64, pattern(100, 1)), nicspec.SegFields{Key: 9, Len: 9000, Addr: 1}))
	r.tell(&x.ring)
	r.ended(x, 0, all)
	r.quiet()
	r.noFrames()
}

// enqueueFailing posts entries that end with a status that the memory gives.
func (r *rig) enqueueFailing(x *txRing, status nicspec.Status, entries ...nicspec.WqeFields) (all []posted) {
	r.t.Helper()
	for i := range entries {
		entries[i].WqeId = uint32(i) + 0x55
		e := one(entries[i])
		r.storeEntry(x, x.PI, &e)
		x.PI++
		all = append(all, posted{e, nil, status})
	}
	return all
}

// tagsRest lets every read fail that way in which its tag may not be used again at once, until all tags have been used up:
// the device waits for them, and goes on.
func tagsRest(r *rig) {
	r.write(nicspec.RegCplTimeout, 4*timeout)
	x, w := r.txSetup(3, 8)
	for _, kind := range []inject.FaultKind{inject.FaultPoison, inject.FaultLowerAddr} {
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: kind, From: w[1].bus, To: w[1].bus + uint64(w[1].length), Count: 300}))
		struck, first := 0, x.PI
		for range 2 {
			var all []nicspec.WqeFields
			for i := range 100 {
				all = append(all, r.sound(w[1], uint64(i)))
			}
			r.enqueue(x, all...)
			r.tell(&x.ring)
			for range all {
				if r.txCqe(x).Status() != nicspec.StatusOk {
					struck++
				}
			}
		}
		require.NotZero(r.t, struck)
		require.Equal(r.t, first+200, x.PI)
		r.b.Faults.Clear()
		r.out = nil
		r.transmit(x, r.sound(w[1], 5), r.sound(w[0], 6))
	}
}

// timeouts has reads that are answered somewhat before the timeout, or somewhat after.
func timeouts(r *rig) {
	r.setDevctl(1, 5, 0) // so that a read has several completions
	x, w := r.txSetup(3, 4)
	for _, c := range []struct{ set, limit uint32 }{{0, 1024}, {1, 1024}, {1024, 1024}, {3000, 3000}, {9000, 9000}} {
		r.quiet()
		r.write(nicspec.RegCplTimeout, c.set)
		r.synced()
		const way = 400 // cycles that the way there and back may take
		for _, a := range []struct {
			delay, gap int // of the answer, of its second completion
			late       bool
		}{
			{int(c.limit) - way, 0, false}, {int(c.limit) + 1200, 0, true}, {300, int(c.limit) - way - 300, false},
			{int(c.limit) - way, 1700, true}, // it is the request that time runs from, not what has come
		} {
			s := r.piece(w[0], 0, 4096, pattern(1500, uint64(c.set)))
			at := w[0].bus + s.Addr - w[0].va
			r.b.Faults.Clear()
			require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: at, To: at + 1, Count: 1, Nth: 1, Delay: r.b.Cycles(a.delay),
				Gap: r.b.Cycles(a.gap)}))
			first := x.PI
			all := r.enqueue(x, sendEntry(nil, s))
			if a.late {
				all[0].status, all[0].frame = nicspec.StatusCplTimeout, nil
			}
			r.tell(&x.ring)
			r.ended(x, first, all)
			r.quiet()
		}
	}
	r.noFrames()
}
