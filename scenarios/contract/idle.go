package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

// The referee holds busy to be 1 in every check; these have it fall, and be looked at while it must not.
var idleChecks = []check{
	{"rest/busy is 1 while a read is outstanding", "B8 C1", stalled, busyWhileReading},
	{"rest/STATUS tells which part is busy", "B8 G3", stalled, statusTells},
	{"rest/busy falls while an entry waits for tx_enable", "B8 T1", stalled, idleWithEntry},
}

// busyFalls waits until the pin busy is 0: nothing is left to do [B8] [C3].
func (r *rig) busyFalls() {
	r.t.Helper()
	from := r.b.NIC.Cycles()
	r.until("the pin busy is 0 [B8]", func() bool {
		r.read(nicspec.RegStatus) // the Go NIC reports an idle interval when it ends
		return r.idleAt > from
	})
}

// busyWhileReading has reads of each kind of ring that never come back, and nothing else to do.
func busyWhileReading(r *rig) {
	const limit = 8000
	r.write(nicspec.RegCplTimeout, limit)
	r.write(nicspec.RegCtrl, 3)
	r.busyFalls()
	x, y := r.openRx(3, 3, nil), r.openTx(2, 3)
	for _, g := range []*ring{&x.ring, &y.ring} {
		r.failOnce(inject.FaultSilent, g.Base, 64)
		if g == &x.ring {
			r.post(x, 1)
		} else {
			r.enqueue(y, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
			r.tell(&y.ring)
		}
		r.struck()
		r.synced()
		from := r.b.NIC.Cycles()
		r.run(limit / 2)
		r.synced()
		require.Less(r.t, r.idleAt, from, "busy was 0 while a read was outstanding")
		r.event(g, nicspec.StatusCplTimeout, 0)
		r.busyFalls()
	}
}

// idleWithEntry rings for an entry that may not start: that is no work in progress.
func idleWithEntry(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	y := r.openTx(2, 3)
	r.enqueue(y, nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true})
	r.tell(&y.ring)
	r.synced()
	r.busyFalls()
	r.nothing(&y.ring)
	r.write(nicspec.RegCtrl, 3)
	r.until("the entry ends", func() bool { return r.next(&y.ring) != nil })
	r.busyFalls()
}

// statusTells has a frame, and then a work entry, wait for a read that is answered late.
func statusTells(r *rig) {
	const late = 4000
	y, w := r.txSetup(2, 3)
	x := r.openRx(3, 3, nil)
	r.receiveAll(3)
	e := r.sound(w[0], 1)
	for _, c := range []struct {
		rx bool
		at uint64
	}{{true, x.Base}, {false, r.busOf(segments(&e)[2])}} {
		r.quiet()
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: c.at, To: c.at + 64, Delay: r.b.Cycles(late)}))
		want := nicspec.StatusReg(0)
		want.SetReadsOutstanding(true)
		if want.SetRxBusy(c.rx); c.rx {
			r.post(x, 1)
			r.play(frameOf(100))
		} else {
			want.SetTxBusy(true)
			r.enqueue(y, e)
			r.tell(&y.ring)
		}
		r.struck()
		r.played()
		r.synced()
		require.EqualValues(r.t, want, r.read(nicspec.RegStatus), "receiving: %v", c.rx)
	}
	r.quiet()
	r.out = nil
}
