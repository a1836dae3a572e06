package registers

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// IdleChecks check that busy falls after work, and that it is 1 in special cases. The referee checks in every other
// check that busy is 1 during work.
var IdleChecks = []kit.Check{
	{Name: "rest/busy is 1 while a read is outstanding", Rules: "B8 C1", Stalls: kit.Stalled, Run: busyWhileReading},
	{Name: "rest/STATUS tells which part is busy", Rules: "B8 G3", Stalls: kit.Stalled, Run: statusTells},
	{Name: "rest/busy falls while an entry waits for tx_enable", Rules: "B8 T1", Stalls: kit.Stalled,
		Run: idleWithEntry},
}

// busyWhileReading leaves reads of each kind of ring unanswered while there is no other work: busy must stay 1.
func busyWhileReading(r *kit.Rig) {
	const limit = 8000
	r.Write(nicspec.RegCplTimeout, limit)
	r.Write(nicspec.RegCtrl, 3)
	r.BusyFalls()
	x, y := r.OpenRx(3, 3, nil), r.OpenTx(2, 3)
	for _, g := range []*kit.Ring{&x.Ring, &y.Ring} {
		r.FailOnce(inject.FaultSilent, g.Base, 64)
		if g == &x.Ring {
			r.Post(x, 1)
		} else {
			r.Enqueue(y, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
			r.RingDoorbell(&y.Ring)
		}
		r.AwaitFault()
		r.Synced()
		from := r.Bed.NIC.Cycles()
		r.Run(limit / 2)
		r.Synced()
		require.Less(r.T, r.IdleAt, from, "busy was 0 while a read was outstanding")
		r.Event(g, nicspec.StatusCplTimeout, 0)
		r.BusyFalls()
	}
}

// idleWithEntry rings the doorbell for an entry that may not start, which does not count as work in progress.
func idleWithEntry(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	y := r.OpenTx(2, 3)
	r.Enqueue(y, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	r.RingDoorbell(&y.Ring)
	r.Synced()
	r.BusyFalls()
	r.Nothing(&y.Ring)
	r.Write(nicspec.RegCtrl, 3)
	r.Until("the entry ends", func() bool { return r.Next(&y.Ring) != nil })
	r.BusyFalls()
}

// statusTells lets a frame, and then a work entry, wait for a read that is answered late, and checks what STATUS says
// meanwhile.
func statusTells(r *kit.Rig) {
	const late = 4000
	y, w := r.TxSetup(2, 3)
	x := r.OpenRx(3, 3, nil)
	r.ReceiveAll(3)
	e := r.Sound(w[0], 1)
	for _, c := range []struct {
		rx bool
		at uint64
	}{{true, x.Base}, {false, r.BusOf(kit.Segments(&e)[2])}} {
		r.Quiet()
		r.Bed.Faults.Clear()
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: c.at, To: c.at + 64, Delay: r.Bed.Cycles(late)}))
		want := nicspec.StatusReg(0)
		want.SetReadsOutstanding(true)
		if want.SetRxBusy(c.rx); c.rx {
			r.Post(x, 1)
			r.Play(kit.FrameOf(100))
		} else {
			want.SetTxBusy(true)
			r.Enqueue(y, e)
			r.RingDoorbell(&y.Ring)
		}
		r.AwaitFault()
		r.Played()
		r.Synced()
		require.EqualValues(r.T, want, r.Read(nicspec.RegStatus), "receiving: %v", c.rx)
	}
	r.Quiet()
	r.Out = nil
}
