package contract

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// ringErrorChecks look at what becomes of entries beside a read of the ring that fails, or when their queue is disabled.
var ringErrorChecks = []check{
	{"transmit errors/a read of several entries fails at its end", "T2 Q4 P5", stalled, lastEntryFails},
	{"transmit errors/disabled while an Event is owed", "T2 Q5 T11", stalled, owedEvent},
	{"transmit rings/entries that were not fetched are forgotten", "T11 G4", calm, notFetched},
}

// lastEntryFails strikes the last completion of a read of the ring: no entry of that read is used, though the bytes of some
// have come; those before it end as usual.
func lastEntryFails(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	_, w := r.txSetup(1, 2)
	defer func() { r.b.Faults.Struck = nil }()
	for i := range 24 {
		f := failures[[]int{0, 1, 5, 6}[i%4]]
		x := r.openTx(2, 4)
		at := x.Base
		r.b.Faults.Clear()
		r.b.Faults.Struck = func(_ *inject.Fault, h *tlp.Header) { at = h.Address }
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: f.kind, From: x.At(uint16(i % 5)), To: x.At(15), Count: 1, Nth: 99}))
		var all []posted
		for k := range 12 {
			all = append(all, r.enqueue(x, r.sound(w[0], uint64(k)))...)
		}
		r.tell(&x.ring)
		r.struck()
		n := uint16((at - x.Base) / nicspec.WqeBytes)
		r.ended(x, 0, all[:n])
		r.event(&x.ring, f.want, n)
		r.quiet()
		r.nothing(&x.ring)
		r.noFrames()
		r.disable(nicspec.TableTxq, 2)
	}
}

// owedEvent disables a queue whose second entry could not be read while its first one is not done: both are told of.
func owedEvent(r *rig) {
	r.write(nicspec.RegCplTimeout, 4*timeout)
	_, w := r.txSetup(1, 2)
	for i := range 4 {
		x := r.openTx(2, 3)
		e := r.sound(w[0], uint64(i))
		slow := r.busOf(segments(&e)[i%3])
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: slow, To: slow + 1, Delay: r.b.Cycles(3000)}))
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultCA, From: x.At(1), To: x.At(2)}))
		all := r.enqueue(x, e)
		r.tell(&x.ring)
		r.struck()
		r.enqueue(x, r.sound(w[0], 9))
		r.tell(&x.ring)
		r.until("the queue is in state Error", func() bool {
			return nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2)).State == nicspec.QueueStateError
		})
		r.nothing(&x.ring)
		r.disable(nicspec.TableTxq, 2)
		r.ended(x, 0, all)
		r.event(&x.ring, nicspec.StatusCplAbort, 1)
		r.nothing(&x.ring)
	}
	r.quiet()
	r.noFrames()
}

// notFetched disables a queue with far more posted than it has fetched: once the write has taken effect no more is read.
func notFetched(r *rig) {
	r.txSetup(1, 2)
	x := r.openTx(2, 11)
	nop := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
	r.enqueue(x, slices.Repeat([]nicspec.WqeFields{nop}, x.Size())...)
	off, late := int64(-1), 0
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind == boundary.TLPIn && h.Kind == tlp.MWr && h.Address == nicspec.BarBase+uint64(nicspec.RegTblCmd):
			off = c.Last
		case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && x.Contains(h.Address):
			if off >= 0 && c.First > off+2*nicspec.VisibleCycles { // some may wait for the stream
				late++
			}
		}
	}
	r.tell(&x.ring)
	r.until("entries end", func() bool { return r.next(&x.ring) != nil })
	r.disable(nicspec.TableTxq, 2)
	r.watch = nil
	require.Positive(r.t, off)
	require.Zero(r.t, late, "reads of the ring after the queue was disabled")
	e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2))
	require.Less(r.t, int(e.Ci), x.Size()*3/4, "entries that ended")
	require.Equal(r.t, e.Ci, e.Cqi)
	r.quiet()
}
