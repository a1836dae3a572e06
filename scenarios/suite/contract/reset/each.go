package reset

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/registers"
)

// EachChecks run in builds of every size, since a reset must clear every entry that a build has.
var EachChecks = []kit.Check{
	{Name: "tables/every entry, and their reset", Rules: "G6 G7 L3", Stalls: kit.Calm, Run: resetEveryEntry},
	{Name: "rings/an error of every queue, and their reset", Rules: "Q6 L3", Stalls: kit.Calm, Run: resetEveryQueue},
}

// resetEveryEntry writes the same contents into every entry of every table, and resets.
func resetEveryEntry(r *kit.Rig) {
	for _, t := range registers.Tables(r) {
		e := registers.GoodEntry(r, t, 5)
		r.Stage(e)
		for i := range registers.Entries(r, t) {
			r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpWrite, t, i))
			r.Run(nicspec.VisibleCycles + 8) // longer than a table command takes
		}
		require.Equal(r.T, nicspec.TableStatusOk, r.CommandEnd(), "%v", t)
		for _, i := range []int{0, registers.Entries(r, t) / 3, registers.Entries(r, t) - 1} {
			require.Equal(r.T, e, r.Entry(t, i)[:registers.EntryBytes[t]], "%v %d", t, i)
		}
	}
	Reset(r)
	asAfterReset(r)
}

// resetEveryQueue makes the first read of every queue's ring fail, so that all are in state Error
// when the reset comes.
func resetEveryQueue(r *kit.Rig) {
	if r.Sizes.Has(nicspec.PartMsix) {
		at := r.Alloc(nicspec.EndpointHost, 4, 4)
		r.RxMod = func(f *nicspec.RxqEntryFields) { f.MsixAddr, f.MsixData, f.ModCount = at, 0xa5a5_a5a5, 1 }
		r.TxMod = func(f *nicspec.TxqEntryFields) { f.MsixAddr, f.MsixData, f.ModCount = at, 0x5a5a_5a5a, 1 }
	}
	r.Write(nicspec.RegCtrl, 3)
	fails := func(g *kit.Ring) {
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: g.Base, To: g.At(uint16(g.Size() - 1))}))
	}
	for q := range r.Sizes.NumRxq {
		x := r.OpenRx(q, 2, nil)
		fails(&x.Ring)
		r.Write(nicspec.RegRxDoorbell(q), 3)
		r.Event(&x.Ring, nicspec.StatusCplUnsupported, 0)
	}
	for q := range r.Sizes.NumTxq {
		x := r.OpenTx(q, 2)
		fails(&x.Ring)
		r.Write(nicspec.RegTxDoorbell(q), 1)
		r.Event(&x.Ring, nicspec.StatusCplUnsupported, 0)
	}
	r.Bed.Faults.Clear()
	Reset(r)
	asAfterReset(r)
	Works(r, 1)
}
