package registers

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

func doorbells(r *kit.Rig) {
	bad := kit.Steps{kit.DevCounter(nicspec.CntDbBad): 1}
	for _, rx := range []bool{true, false} {
		table, beyond := nicspec.TableTxq, r.Sizes.NumTxq
		if rx {
			table, beyond = nicspec.TableRxq, r.Sizes.NumRxq
		}
		ring := func(what string, want kit.Steps, q int, pi uint32) {
			r.T.Helper()
			r.Counted(what, want, func() { r.Doorbell(rx, q, pi) })
		}
		ring("a queue that was never enabled", bad, 5, 0)
		ring("a queue that was never enabled", bad, 5, 1)
		if beyond < nicspec.RxqMax {
			ring("the first queue beyond the build", bad, beyond, 1)
			ring("the last queue there could be", bad, nicspec.RxqMax-1, 0)
		}
		if rx {
			r.OpenRx(5, 2, nil)
		} else {
			r.OpenTx(5, 2) // tx_enable is 0: entries may be fetched, but not started
		}
		ring("one more than the ring holds", bad, 5, 5)
		ring("far ahead", bad, 5, 0x8000)
		ring("back from 0", bad, 5, 0xffff)
		ring("the index it has", nil, 5, 0)
		ring("a full ring", nil, 5, 4)
		ring("the same again", nil, 5, 4)
		ring("bits 31:16 are not defined", nil, 5, 0xabcd_0004)
		ring("back", bad, 5, 3)
		ring("further than the ring holds", bad, 5, 6)
		require.EqualValues(r.T, 4, kit.LE16(r.Entry(table, 5)[48:]),
			"the producer index is that of the good doorbells")
		r.Counted("two doorbells with one write", kit.Steps{kit.DevCounter(nicspec.CntDbBad): 2}, func() {
			off := nicspec.RegTxDoorbell(4)
			if rx {
				off = nicspec.RegRxDoorbell(4)
			}
			r.Write2(off, 0, 2)
		})
		const many = 100 // more than the device can buffer
		r.Counted("two doorbells with one write, back to back", kit.Steps{kit.DevCounter(nicspec.CntDbBad): 2 * many},
			func() {
				for range many {
					r.Write2(nicspec.RegTxDoorbell(6), 1, 1)
				}
			})
		r.Disable(table, 5)
		ring("a queue that was disabled", bad, 5, 4)
		if rx {
			r.OpenRx(5, nicspec.LogSizeMax, nil)
		} else {
			r.OpenTx(5, nicspec.LogSizeMax)
		}
		ring("the index it has, of an empty ring of the largest size", nil, 5, 0)
		require.Zero(r.T, kit.LE16(r.Entry(table, 5)[50:]), "the consumer index stays")
		r.Disable(table, 5)
	}
}

// doorbellsWrap posts more than 65,536 entries, so that the indices of doorbells and completion entries wrap: Nops
// first, frames across the wrap.
func doorbellsWrap(r *kit.Rig) {
	const sends, nops = 24, 1<<16 - 10
	x, w := r.TxSetup(3, 15)
	nop := kit.Encode(&nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}, nicspec.WqeBytes)
	for i := range x.Size() {
		nop[8] = byte(i)
		r.Store(x.At(uint16(i)), nop)
	}
	r.Synced()
	for _, x.PI = range []uint16{1 << 15, nops} {
		r.RingDoorbell(&x.Ring)
		r.Until("entries end",
			func() bool { return r.Read2(nicspec.RegCounter(kit.DevCounter(nicspec.CntTxCqe))) == uint64(x.PI) })
	}
	x.CQI = nops // the completion ring is now in a lap with phase 0
	var all []nicspec.WqeFields
	for i := range sends {
		all = append(all, r.Sound(w[i%2], uint64(i)))
	}
	r.Transmit(x, all...)
	require.EqualValues(r.T, sends+nops-1<<16, x.PI)
	want := r.Counters()
	require.EqualValues(r.T, nops+sends, want[kit.DevCounter(nicspec.CntTxWqe)])
	r.Counted("one more than the ring holds", kit.Steps{kit.DevCounter(nicspec.CntDbBad): 1},
		func() { r.Doorbell(false, 3, uint32(x.PI+0x8001)) })
	r.Counted("back over 0", kit.Steps{kit.DevCounter(nicspec.CntDbBad): 1}, func() { r.Doorbell(false, 3, 0xffff) })
	r.Counted("on", kit.Steps{kit.DevCounter(nicspec.CntTxWqe): 1, kit.DevCounter(nicspec.CntTxCqe): 1},
		func() { r.Doorbell(false, 3, uint32(x.PI+1)) })
}
