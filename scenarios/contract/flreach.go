package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

// In builds of every size: what a reset must clear is there once for each entry.
var flrEachChecks = []check{
	{"tables/every entry, and their reset", "G6 G7 L3", calm, resetEveryEntry},
	{"rings/an error of every queue, and their reset", "Q6 L3", calm, resetEveryQueue},
}

// resetEveryEntry writes the same into every entry of every table.
func resetEveryEntry(r *rig) {
	for _, t := range r.tables() {
		e := r.goodEntry(t, 5)
		r.stage(e)
		for i := range r.entries(t) {
			r.write(nicspec.RegTblCmd, commandWord(nicspec.TableOpWrite, t, i))
			r.run(nicspec.VisibleCycles + 8) // commands end in time
		}
		require.Equal(r.t, nicspec.TableStatusOk, r.commandEnd(), "%v", t)
		for _, i := range []int{0, r.entries(t) / 3, r.entries(t) - 1} {
			require.Equal(r.t, e, r.entry(t, i)[:entryBytes[t]], "%v %d", t, i)
		}
	}
	r.reset()
	r.asAfterReset()
}

// resetEveryQueue has the first read of every queue's ring fail, so that all are in state Error when the reset comes.
func resetEveryQueue(r *rig) {
	if r.sizes.Has(nicspec.PartMsix) {
		at := r.alloc(nicspec.EndpointHost, 4, 4)
		r.rxMod = func(f *nicspec.RxqEntryFields) { f.MsixAddr, f.MsixData, f.ModCount = at, 0xa5a5_a5a5, 1 }
		r.txMod = func(f *nicspec.TxqEntryFields) { f.MsixAddr, f.MsixData, f.ModCount = at, 0x5a5a_5a5a, 1 }
	}
	r.write(nicspec.RegCtrl, 3)
	fails := func(g *ring) {
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: g.Base, To: g.At(uint16(g.Size() - 1))}))
	}
	for q := range r.sizes.NumRxq {
		x := r.openRx(q, 2, nil)
		fails(&x.ring)
		r.write(nicspec.RegRxDoorbell(q), 3)
		r.event(&x.ring, nicspec.StatusCplUnsupported, 0)
	}
	for q := range r.sizes.NumTxq {
		x := r.openTx(q, 2)
		fails(&x.ring)
		r.write(nicspec.RegTxDoorbell(q), 1)
		r.event(&x.ring, nicspec.StatusCplUnsupported, 0)
	}
	r.b.Faults.Clear()
	r.reset()
	r.asAfterReset()
	r.works(1)
}
