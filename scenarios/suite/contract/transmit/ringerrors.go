package transmit

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// RingErrorChecks check the entries around a ring read that fails, and those of a queue that is disabled.
var RingErrorChecks = []kit.Check{
	{Name: "transmit errors/a read of several entries fails at its end", Rules: "T2 Q4 P5", Stalls: kit.Stalled,
		Run: lastEntryFails},
	{Name: "transmit errors/disabled while an Event is owed", Rules: "T2 Q5 T11", Stalls: kit.Stalled, Run: owedEvent},
	{Name: "transmit rings/entries that were not fetched are forgotten", Rules: "T11 G4", Stalls: kit.Calm,
		Run: notFetched},
}

// lastEntryFails makes the last completion of a ring read fail. No entry of that read may be used, though bytes of some
// have arrived; entries before it must end as usual.
func lastEntryFails(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	_, w := r.TxSetup(1, 2)
	defer func() { r.Bed.Faults.Struck = nil }()
	for i := range 24 {
		f := kit.Failures[[]int{0, 1, 5, 6}[i%4]]
		x := r.OpenTx(2, 4)
		at := x.Base
		r.Bed.Faults.Clear()
		r.Bed.Faults.Struck = func(_ *inject.Fault, h *tlp.Header) { at = h.Address }
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: f.Kind, From: x.At(uint16(i % 5)), To: x.At(15), Count: 1, Nth: 99}))
		var all []kit.Posted
		for k := range 12 {
			all = append(all, r.Enqueue(x, r.Sound(w[0], uint64(k)))...)
		}
		r.RingDoorbell(&x.Ring)
		r.AwaitFault()
		n := uint16((at - x.Base) / nicspec.WqeBytes)
		r.Ended(x, 0, all[:n])
		r.Event(&x.Ring, f.Want, n)
		r.Quiet()
		r.Nothing(&x.Ring)
		r.NoFrames()
		r.Disable(nicspec.TableTxq, 2)
	}
}

// owedEvent disables a queue after the read of its second entry has failed, but before its first entry has ended. Both
// the end of the first entry and the failure must be reported.
func owedEvent(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, 4*kit.Timeout)
	_, w := r.TxSetup(1, 2)
	for i := range 4 {
		x := r.OpenTx(2, 3)
		e := r.Sound(w[0], uint64(i))
		slow := r.BusOf(kit.Segments(&e)[i%3])
		r.Bed.Faults.Clear()
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: slow, To: slow + 1, Delay: r.Bed.Cycles(3000)}))
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultCA, From: x.At(1), To: x.At(2)}))
		all := r.Enqueue(x, e)
		r.RingDoorbell(&x.Ring)
		r.AwaitFault()
		r.Enqueue(x, r.Sound(w[0], 9))
		r.RingDoorbell(&x.Ring)
		r.Until("the queue is in state Error", func() bool {
			return nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2)).State == nicspec.QueueStateError
		})
		r.Nothing(&x.Ring)
		r.Disable(nicspec.TableTxq, 2)
		r.Ended(x, 0, all)
		r.Event(&x.Ring, nicspec.StatusCplAbort, 1)
		r.Nothing(&x.Ring)
	}
	r.Quiet()
	r.NoFrames()
}

// notFetched disables a queue with far more entries posted than fetched: once the write has taken effect, no more may
// be read.
func notFetched(r *kit.Rig) {
	r.TxSetup(1, 2)
	x := r.OpenTx(2, 11)
	nop := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
	r.Enqueue(x, slices.Repeat([]nicspec.WqeFields{nop}, x.Size())...)
	off, late := int64(-1), 0
	r.Watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind == boundary.TLPIn && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+uint64(nicspec.RegTblCmd):
			off = c.Last
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && x.Contains(h.Address):
			if off >= 0 && c.First > off+2*nicspec.VisibleCycles { // until then, waiting requests may leave
				late++
			}
		}
	}
	r.RingDoorbell(&x.Ring)
	r.Until("entries end", func() bool { return r.Next(&x.Ring) != nil })
	r.Disable(nicspec.TableTxq, 2)
	r.Watch = nil
	require.Positive(r.T, off)
	require.Zero(r.T, late, "reads of the ring after the queue was disabled")
	e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2))
	require.Less(r.T, int(e.Ci), x.Size()*3/4, "entries that ended")
	require.Equal(r.T, e.Ci, e.Cqi)
	r.Quiet()
}
