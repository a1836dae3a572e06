package receive

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// RxErrorChecks make descriptor reads fail.
var RxErrorChecks = []kit.Check{
	{Name: "receive errors/descriptor reads that fail", Rules: "P6 Q4 Q2 R7 C3", Stalls: kit.Stalled,
		Run: descriptorFaults},
	{Name: "receive errors/tags of reads that timed out rest", Rules: "P2 P6", Stalls: kit.Calm, Run: silentTagRests},
	{Name: "receive errors/completions for another", Rules: "P6 P7 Q4", Stalls: kit.Calm, Run: lateCompletion},
	{Name: "receive errors/several reads fail", Rules: "Q4 Q7", Stalls: kit.Stalled, Run: severalFail},
	{Name: "receive errors/rings in no memory", Rules: "Q4 P6", Stalls: kit.Calm, Run: noMemory},
	{Name: "receive errors/disabled while a read fails", Rules: "Q5 Q4", Stalls: kit.Calm, Run: offWhileFailing},
	{Name: "receive errors/disabled while an Event waits", Rules: "Q5 Q4", Stalls: kit.Calm, Run: offWhileOwed},
}

// descriptorFaults makes the reads of a queue's descriptors fail in every way, beside a queue that
// is not affected.
func descriptorFaults(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	good := r.OpenRx(1, 8, nil)
	r.ByDest(1, 2)
	r.ReceiveAll(1)
	for _, f := range kit.Failures {
		x := r.OpenRx(2, 2, nil)
		r.Post(good, 6)
		if f.Kind != inject.FaultUR { // let the failing read be in a later lap of the ring
			first := r.Ordinal()
			r.Post(x, 3)
			r.Play(kit.FrameTo(2, kit.Blob(64, 1)), kit.FrameTo(2, kit.Blob(65, 2)), kit.FrameTo(2, kit.Blob(66, 3)))
			for i := range 3 {
				r.Delivered(x, first+i, 1)
			}
		}
		r.Quiet()
		before := r.Counters()
		r.FailOnce(f.Kind, x.Base, 64)
		first := x.PI
		r.Post(x, 1)
		r.AwaitFault()
		want := f.Counts()
		if f.Want == nicspec.StatusOk {
			r.Quiet()
			r.Moved(f.Kind.String(), before, want)
			r.Disable(nicspec.TableRxq, 2)
			continue
		}
		at := r.Ordinal()
		r.Play(kit.FrameTo(1, kit.Blob(70, 1)))
		r.Delivered(good, at, 0)
		r.Event(&x.Ring, f.Want, first)
		frames := [][]byte{kit.FrameTo(1, kit.Blob(70, 1)), kit.FrameTo(2, kit.Blob(200, 4)),
			kit.FrameTo(1, kit.Blob(90, 2)), kit.FrameTo(2, kit.Blob(201, 5))}
		r.Play(frames[1:]...)
		r.Delivered(good, at+2, 0)
		r.RingDoorbell(&x.Ring) // announces nothing new, but counts as an error since the queue is not in state Run
		r.Quiet()
		for i, n := range kit.Arrived(frames...).Taken(2).With(kit.PortCounter(nicspec.CntRxDropQueueErr), 2).
			With(kit.DevCounter(nicspec.CntQueueErr), 1).With(kit.DevCounter(nicspec.CntRxCqe),
			1).With(kit.DevCounter(nicspec.CntDbBad), 1) {
			want[i] += n
		}
		r.Moved(f.Kind.String(), before, want)
		e := nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, 2))
		require.Equal(r.T, nicspec.QueueStateError, e.State, "%v", f.Kind)
		require.Equal(r.T, f.Want, e.Error, "%v", f.Kind)
		require.EqualValues(r.T, 1, e.Enable)
		again := kit.Encode(&x.RxqEntryFields, nicspec.RxqEntrySize)
		require.Equal(r.T, nicspec.TableStatusEnabled, r.Command(nicspec.TableOpWrite, nicspec.TableRxq, 2, again),
			"a queue in state Error must be disabled first")
		r.Bed.Faults.Clear()
		r.Disable(nicspec.TableRxq, 2)
		e = nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, 2))
		require.Equal(r.T, [2]uint8{uint8(nicspec.QueueStateOff), 0}, [2]uint8{uint8(e.State), uint8(e.Error)})
		x = r.OpenRx(2, 2, nil) // enabled again, the queue works
		at = r.Ordinal()
		r.Post(x, 4)
		r.Play(kit.FrameTo(2, kit.Blob(300, 1)))
		r.Delivered(x, at, 1)
		r.Disable(nicspec.TableRxq, 2)
	}
}

// lateCompletion delays the completion of a descriptor read beyond CPL_TIMEOUT: the read must fail once, and the late
// completion must be counted as unexpected and ignored.
func lateCompletion(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	r.ReceiveAll(2)
	x := r.OpenRx(2, 3, nil)
	r.Quiet()
	before := r.Counters()
	require.NoError(r.T,
		r.Bed.Faults.Add(inject.Fault{From: x.Base, To: x.Base + 16, Delay: r.Bed.Cycles(4 * kit.Timeout)}))
	r.Post(x, 1)
	r.Event(&x.Ring, nicspec.StatusCplTimeout, 0)
	r.Quiet()
	r.Moved("a completion that comes after the timeout", before, kit.Steps{
		kit.DevCounter(nicspec.CntCplTimeouts): 1, kit.DevCounter(nicspec.CntCplUnexpected): 1,
		kit.DevCounter(nicspec.CntQueueErr): 1, kit.DevCounter(nicspec.CntRxCqe): 1,
	})
}

// severalFail makes all reads of a ring fail except the first two. There must be exactly one Event, QUEUE_ERR must step
// once, and each of 70 frames must be delivered, or dropped for QueueErr or NoDesc.
func severalFail(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	r.ReceiveAll(2)
	for _, kind := range []inject.FaultKind{inject.FaultCA, inject.FaultSilent, inject.FaultPoison} {
		x := r.OpenRx(2, 6, nil)
		r.Bed.Faults.Clear()
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: kind, From: x.Base, To: x.Base + 1024, Skip: 2}))
		before := r.Counters()
		r.Post(x, 64)
		for i := range 70 {
			r.Play(kit.Blob(60+i, 1))
		}
		events, frames := 0, 0
		r.AwaitFault()
		r.Quiet()
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			if e[0] == byte(nicspec.CqeTypeEvent) {
				events++
			} else {
				frames++
			}
		}
		require.Equal(r.T, 1, events)
		after := r.Counters()
		require.EqualValues(r.T, 1,
			after[kit.DevCounter(nicspec.CntQueueErr)]-before[kit.DevCounter(nicspec.CntQueueErr)])
		require.EqualValues(r.T, 70,
			frames+int(
				after[kit.PortCounter(nicspec.CntRxDropQueueErr)]-before[kit.PortCounter(nicspec.CntRxDropQueueErr)]+
					after[kit.PortCounter(nicspec.CntRxDropNoDesc)]-before[kit.PortCounter(nicspec.CntRxDropNoDesc)]))
		r.Bed.Faults.Clear()
		r.Disable(nicspec.TableRxq, 2)
	}
}

// noMemory uses addresses without memory. A ring there fails with CplUnsupported; a buffer there loses the bytes, while
// the completion entry is written as usual.
func noMemory(r *kit.Rig) {
	r.ReceiveAll(2)
	x := r.OpenRx(2, 3, func(f *nicspec.RxqEntryFields) { f.RingBase = 7 << nicspec.EndpointShift })
	r.Doorbell(true, 2, 1)
	r.Event(&x.Ring, nicspec.StatusCplUnsupported, 0)
	r.Disable(nicspec.TableRxq, 2)
	x = r.OpenRx(2, 3, nil)
	r.Put(x, 0, 9<<nicspec.EndpointShift|1)
	r.Write(nicspec.RegRxDoorbell(2), 1)
	r.Play(kit.Blob(100, 1))
	require.EqualValues(r.T, 100, nicspec.RxCqe(r.RxCqe(x)).FrameLen(),
		"writes are posted: nothing reports that they were lost")
	r.Disable(nicspec.TableRxq, 2)
}

// offWhileFailing disables a queue while a read of its ring waits for a completion that fails, or
// never comes.
func offWhileFailing(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	r.ReceiveAll(2)
	for _, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultSilent, inject.FaultPoison} {
		x := r.OpenRx(2, 3, nil)
		r.Bed.Faults.Clear()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: kind, From: x.Base, To: x.Base + 64, Delay: r.Bed.Cycles(500),
				Count: 1}))
		r.Counted(kind.String(),
			(&kit.Failure{Want: map[inject.FaultKind]nicspec.Status{inject.FaultSilent: nicspec.StatusCplTimeout,
				inject.FaultUR:     nicspec.StatusCplUnsupported,
				inject.FaultPoison: nicspec.StatusCplPoison}[kind]}).Counts(),
			func() {
				r.Post(x, 1)
				r.AwaitFault()
				r.Disable(nicspec.TableRxq, 2)
				r.Nothing(&x.Ring) // a read that fails after the queue is Off causes no Event
			})
		e := nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, 2))
		require.Equal(r.T, nicspec.QueueStateOff, e.State)
	}
}

// silentTagRests lets one read time out, and checks that its tag is not reused until another CPL_TIMEOUT has passed
// [P6], while at least 384 other reads go out.
func silentTagRests(r *kit.Rig) {
	const limit = 4 * kit.Timeout // long enough for tags to be used many times before and after the timeout
	r.Write(nicspec.RegCplTimeout, limit)
	var d nicspec.DevctlReg // reads of 128 B
	r.Write(nicspec.RegDevctl, uint32(d))
	y := r.OpenRx(1, 3, nil)
	x, w := r.TxSetup(3, 6)
	e := kit.SendEntry(nil, r.Piece(w[0], 0, 64, kit.Pattern(4000, 1)), r.Piece(w[0], 0, 64, kit.Pattern(5000, 2)))
	e.FComplete = true
	posts := r.Enqueue(x, slices.Repeat([]nicspec.WqeFields{e}, x.Size())...)
	reads := 0 // reads after the unanswered one
	since, tag, again := int64(-1), uint8(0), int64(-1)
	r.Watch = func(c boundary.Crossing) {
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
	r.RingDoorbell(&x.Ring)
	r.Until("the first frames leave", func() bool { return len(r.Out) > 5 })
	r.FailOnce(inject.FaultSilent, y.Base, 64)
	r.Post(y, 1)
	r.Ended(x, 0, posts)
	r.Watch = nil
	r.Event(&y.Ring, nicspec.StatusCplTimeout, 0)
	const tags = 256
	require.GreaterOrEqual(r.T, reads, tags*3/2, "reads while a tag waits and rests")
	require.EqualValues(r.T, -1, again, "tag %#x of a read in cycle %d was used again in it", tag, since)
}

// offWhileOwed disables a queue whose ring failed long ago. Its Event has not been written yet: it waits behind a frame
// of another queue that waits for a descriptor. The disable must not discard the Event.
func offWhileOwed(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	other, x := r.OpenRx(1, 3, nil), r.OpenRx(2, 3, nil)
	r.ByDest(1)
	late := inject.Fault{From: other.Base, To: other.Base + 64, Delay: r.Bed.Cycles(6000), Count: 1}
	require.NoError(r.T, r.Bed.Faults.Add(late))
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: x.Base, To: x.Base + 64, Count: 1}))
	first := r.Ordinal()
	r.Post(other, 1)
	r.Play(kit.FrameTo(1, kit.Blob(64, 1)))
	r.Run(400)
	r.Post(x, 1)
	r.Until("both faults are met", func() bool { return r.Bed.Faults.Hits() == 2 })
	r.Run(1000)
	r.CommandLater(nicspec.TableOpWrite, nicspec.TableRxq, x.Number, make([]byte, nicspec.RxqEntrySize))
	r.Event(&x.Ring, nicspec.StatusCplUnsupported, 0)
	require.Equal(r.T, nicspec.TableStatusOk, r.CommandEnd())
	r.Delivered(other, first, 0)
}
