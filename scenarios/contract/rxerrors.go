package contract

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var rxErrorChecks = []check{
	{"receive errors/descriptor reads that fail", "P6 Q4 Q2 R7 C3", stalled, descriptorFaults},
	{"receive errors/tags of reads that timed out rest", "P2 P6", calm, silentTagRests},
	{"receive errors/completions for another", "P6 P7 Q4", calm, strayAnswers},
	{"receive errors/several reads fail", "Q4 Q7", stalled, severalFail},
	{"receive errors/rings in no memory", "Q4 P6", calm, noMemory},
	{"receive errors/disabled while a read fails", "Q5 Q4", calm, offWhileFailing},
	{"receive errors/disabled while an Event waits", "Q5 Q4", calm, offWhileOwed},
}

// timeout is CPL_TIMEOUT in these checks, the least there is.
const timeout = 1024

// failure is a fault of a read and the status that it ends with; Ok where it does no harm.
type failure struct {
	kind   inject.FaultKind
	want   nicspec.Status
	strays int // completions that find no request, where that does not depend on how the device splits
}

var failures = []failure{
	{inject.FaultUR, nicspec.StatusCplUnsupported, 0}, {inject.FaultCA, nicspec.StatusCplAbort, 0},
	{inject.FaultCRS, nicspec.StatusCplAbort, 0}, {inject.FaultReserved, nicspec.StatusCplAbort, 0},
	{inject.FaultWrongData, nicspec.StatusCplUnsupported, 0}, {inject.FaultPoison, nicspec.StatusCplPoison, 0},
	{inject.FaultByteCount, nicspec.StatusCplMalformed, 0}, {inject.FaultLowerAddr, nicspec.StatusCplMalformed, 0},
	{inject.FaultLong, nicspec.StatusCplMalformed, 0}, {inject.FaultNoData, nicspec.StatusCplMalformed, 0},
	{inject.FaultShort, nicspec.StatusCplTimeout, 0}, {inject.FaultSilent, nicspec.StatusCplTimeout, 0},
	{inject.FaultTwice, nicspec.StatusOk, 1}, {inject.FaultTag, nicspec.StatusCplTimeout, 1},
	{inject.FaultRequester, nicspec.StatusCplTimeout, 1},
	{inject.FaultPoisonedUR, nicspec.StatusCplUnsupported, 0}, {inject.FaultPoisonedCount, nicspec.StatusCplPoison, 0},
}

// counts is the steps of a failing read.
func (f *failure) counts() steps {
	s := steps{}
	switch f.want {
	case nicspec.StatusOk:
	case nicspec.StatusCplTimeout:
		s.with(dev(nicspec.CntCplTimeouts), 1)
	default:
		s.with(dev(nicspec.CntCplErr), 1)
	}
	return s.with(dev(nicspec.CntCplUnexpected), f.strays)
}

// failOnce lets one read in a range of n bytes fail, by its last completion: how a read is split makes no difference.
func (r *rig) failOnce(kind inject.FaultKind, bus uint64, n int) {
	r.t.Helper()
	r.b.Faults.Clear()
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: kind, From: bus, To: bus + uint64(n), Count: 1, Nth: 99}))
}

// struck waits until a fault has been met.
func (r *rig) struck() {
	r.t.Helper()
	r.until("a fault is met", func() bool { return r.b.Faults.Hits() > 0 })
}

// event waits for the Event of a queue and compares it.
func (r *rig) event(g *ring, status nicspec.Status, first uint16) {
	r.t.Helper()
	phase := g.Phase(g.CQI)
	e := r.cqe(g, "an Event")
	want := nicspec.TxCqeFields{Type: nicspec.CqeTypeEvent, Status: status, Queue: uint16(g.Number), Index: first, Phase: phase}
	if field, exp, got, same := nicspec.DiffTxCqe(encode(&want, nicspec.CqeBytes), e); !same {
		require.FailNow(r.t, "Event", "%s is %s, want %s", field, got, exp)
	}
}

// descriptorFaults lets the reads of a queue's descriptors fail in every way, while another queue goes on.
func descriptorFaults(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	good := r.openRx(1, 8, nil)
	r.byDest(1, 2)
	r.receiveAll(1)
	for _, f := range failures {
		x := r.openRx(2, 2, nil)
		r.post(good, 6)
		if f.kind != inject.FaultUR { // not the first lap: some descriptors are used before
			first := r.ordinal()
			r.post(x, 3)
			r.play(to(2, blob(64, 1)), to(2, blob(65, 2)), to(2, blob(66, 3)))
			for i := range 3 {
				r.delivered(x, first+i, 1)
			}
		}
		r.quiet()
		before := r.counters()
		r.failOnce(f.kind, x.Base, 64)
		first := x.PI
		r.post(x, 1)
		r.struck()
		want := f.counts()
		if f.want == nicspec.StatusOk {
			r.quiet()
			r.moved(f.kind.String(), before, want)
			r.disable(nicspec.TableRxq, 2)
			continue
		}
		at := r.ordinal()
		r.play(to(1, blob(70, 1)))
		r.delivered(good, at, 0)
		r.event(&x.ring, f.want, first)
		frames := [][]byte{to(1, blob(70, 1)), to(2, blob(200, 4)), to(1, blob(90, 2)), to(2, blob(201, 5))}
		r.play(frames[1:]...)
		r.delivered(good, at+2, 0)
		r.tell(&x.ring) // the same index again, but the queue is not in state Run
		r.quiet()
		for i, n := range arrived(frames...).taken(2).with(port(nicspec.CntRxDropQueueErr), 2).
			with(dev(nicspec.CntQueueErr), 1).with(dev(nicspec.CntRxCqe), 1).with(dev(nicspec.CntDbBad), 1) {
			want[i] += n
		}
		r.moved(f.kind.String(), before, want)
		e := nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, 2))
		require.Equal(r.t, nicspec.QueueStateError, e.State, "%v", f.kind)
		require.Equal(r.t, f.want, e.Error, "%v", f.kind)
		require.EqualValues(r.t, 1, e.Enable)
		again := encode(&x.RxqEntryFields, nicspec.RxqEntrySize)
		require.Equal(r.t, nicspec.TableStatusEnabled, r.command(nicspec.TableOpWrite, nicspec.TableRxq, 2, again), "in error it is disabled first")
		r.b.Faults.Clear()
		r.disable(nicspec.TableRxq, 2)
		e = nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, 2))
		require.Equal(r.t, [2]uint8{uint8(nicspec.QueueStateOff), 0}, [2]uint8{uint8(e.State), uint8(e.Error)})
		x = r.openRx(2, 2, nil) // and it works again
		at = r.ordinal()
		r.post(x, 4)
		r.play(to(2, blob(300, 1)))
		r.delivered(x, at, 1)
		r.disable(nicspec.TableRxq, 2)
	}
}

// strayAnswers lets completions come late, twice and for others: they are counted and do nothing else.
func strayAnswers(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	r.receiveAll(2)
	x := r.openRx(2, 3, nil)
	r.quiet()
	before := r.counters()
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: x.Base, To: x.Base + 16, Delay: r.b.Cycles(4 * timeout)}))
	r.post(x, 1)
	r.event(&x.ring, nicspec.StatusCplTimeout, 0)
	r.quiet()
	r.moved("a completion that comes after the timeout", before, steps{
		dev(nicspec.CntCplTimeouts): 1, dev(nicspec.CntCplUnexpected): 1, dev(nicspec.CntQueueErr): 1, dev(nicspec.CntRxCqe): 1,
	})
}

// severalFail lets every read of a ring fail: there is one Event, and one more entry than descriptors at most.
func severalFail(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	r.receiveAll(2)
	for _, kind := range []inject.FaultKind{inject.FaultCA, inject.FaultSilent, inject.FaultPoison} {
		x := r.openRx(2, 6, nil)
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: kind, From: x.Base, To: x.Base + 1024, Skip: 2}))
		before := r.counters()
		r.post(x, 64)
		for i := range 70 {
			r.play(blob(60+i, 1))
		}
		events, frames := 0, 0
		r.struck()
		r.quiet()
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			if e[0] == byte(nicspec.CqeTypeEvent) {
				events++
			} else {
				frames++
			}
		}
		require.Equal(r.t, 1, events)
		after := r.counters()
		require.EqualValues(r.t, 1, after[dev(nicspec.CntQueueErr)]-before[dev(nicspec.CntQueueErr)])
		require.EqualValues(r.t, 70, frames+int(after[port(nicspec.CntRxDropQueueErr)]-before[port(nicspec.CntRxDropQueueErr)]+
			after[port(nicspec.CntRxDropNoDesc)]-before[port(nicspec.CntRxDropNoDesc)]))
		r.b.Faults.Clear()
		r.disable(nicspec.TableRxq, 2)
	}
}

// noMemory has rings where no memory is, and completion rings and buffers whose writes go nowhere.
func noMemory(r *rig) {
	r.receiveAll(2)
	x := r.openRx(2, 3, func(f *nicspec.RxqEntryFields) { f.RingBase = 7 << nicspec.EndpointShift })
	r.doorbell(true, 2, 1)
	r.event(&x.ring, nicspec.StatusCplUnsupported, 0)
	r.disable(nicspec.TableRxq, 2)
	x = r.openRx(2, 3, nil)
	r.put(x, 0, 9<<nicspec.EndpointShift|1)
	r.write(nicspec.RegRxDoorbell(2), 1)
	r.play(blob(100, 1))
	require.EqualValues(r.t, 100, nicspec.RxCqe(r.rxCqe(x)).FrameLen(), "writes are posted: nobody tells that they were lost")
	r.disable(nicspec.TableRxq, 2)
}

// offWhileFailing disables a queue while a read of its ring waits for a completion that fails, or never comes.
func offWhileFailing(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	r.receiveAll(2)
	for _, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultSilent, inject.FaultPoison} {
		x := r.openRx(2, 3, nil)
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: kind, From: x.Base, To: x.Base + 64, Delay: r.b.Cycles(500), Count: 1}))
		r.counted(kind.String(), (&failure{want: map[inject.FaultKind]nicspec.Status{inject.FaultSilent: nicspec.StatusCplTimeout,
			inject.FaultUR: nicspec.StatusCplUnsupported, inject.FaultPoison: nicspec.StatusCplPoison}[kind]}).counts(), func() {
			r.post(x, 1)
			r.struck()
			r.disable(nicspec.TableRxq, 2)
			r.nothing(&x.ring) // a read that fails after the queue is Off makes no Event
		})
		e := nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, 2))
		require.Equal(r.t, nicspec.QueueStateOff, e.State)
	}
}

// silentTagRests has one read time out while so many others go on that all tags come round several times.
func silentTagRests(r *rig) {
	const limit = 4 * timeout // so that tags come round many times before and after it
	r.write(nicspec.RegCplTimeout, limit)
	var d nicspec.DevctlReg // reads of 128 B
	r.write(nicspec.RegDevctl, uint32(d))
	y := r.openRx(1, 3, nil)
	x, w := r.txSetup(3, 6)
	e := sendEntry(nil, r.piece(w[0], 0, 64, pattern(4000, 1)), r.piece(w[0], 0, 64, pattern(5000, 2)))
	e.FComplete = true
	posts := r.enqueue(x, slices.Repeat([]nicspec.WqeFields{e}, x.Size())...)
	reads, since, tag, again := 0, int64(-1), uint8(0), int64(-1) // of those that follow the silent one
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind != boundary.TLPOut || h.Kind != tlp.MRd:
		case since < 0 && h.Address == y.Base:
			since, tag = c.Last, h.Tag
		case since >= 0 && c.Last < since+2*limit:
			reads++
			if h.Tag == tag {
				again = c.Last
			}
		}
	}
	r.tell(&x.ring)
	r.until("the first frames leave", func() bool { return len(r.out) > 5 })
	r.failOnce(inject.FaultSilent, y.Base, 64)
	r.post(y, 1)
	r.ended(x, 0, posts)
	r.watch = nil
	r.event(&y.ring, nicspec.StatusCplTimeout, 0)
	const tags = 256
	require.GreaterOrEqual(r.t, reads, tags*3/2, "reads while a tag waits and rests")
	require.EqualValues(r.t, -1, again, "tag %#x of a read in cycle %d was used again in it", tag, since)
}

// offWhileOwed disables a queue whose ring failed long ago, and whose Event stands behind a frame of another queue that waits
// for its descriptor: the Event is written all the same.
func offWhileOwed(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	other, x := r.openRx(1, 3, nil), r.openRx(2, 3, nil)
	r.byDest(1)
	late := inject.Fault{From: other.Base, To: other.Base + 64, Delay: r.b.Cycles(6000), Count: 1}
	require.NoError(r.t, r.b.Faults.Add(late))
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: x.Base, To: x.Base + 64, Count: 1}))
	first := r.ordinal()
	r.post(other, 1)
	r.play(to(1, blob(64, 1)))
	r.run(400)
	r.post(x, 1)
	r.until("both faults are met", func() bool { return r.b.Faults.Hits() == 2 })
	r.run(1000)
	r.commandLater(nicspec.TableOpWrite, nicspec.TableRxq, x.Number, make([]byte, nicspec.RxqEntrySize))
	r.event(&x.ring, nicspec.StatusCplUnsupported, 0)
	require.Equal(r.t, nicspec.TableStatusOk, r.commandEnd())
	r.delivered(other, first, 0)
}
