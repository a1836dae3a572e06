package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/stack/driver"
)

// tell rings a queue's doorbell for all that was posted.
func (r *rig) tell(g *ring) { r.t.Helper(); r.write(g.Doorbell(), uint32(g.PI)) }

// doorbell writes anything to a doorbell.
func (r *rig) doorbell(rx bool, q int, v uint32) {
	r.t.Helper()
	g := driver.NewRawQueue(!rx, q, 0)
	r.write(g.Doorbell(), v)
}

func doorbells(r *rig) {
	bad := steps{dev(nicspec.CntDbBad): 1}
	for _, rx := range []bool{true, false} {
		table, beyond := nicspec.TableTxq, r.sizes.NumTxq
		if rx {
			table, beyond = nicspec.TableRxq, r.sizes.NumRxq
		}
		ring := func(what string, want steps, q int, pi uint32) {
			r.t.Helper()
			r.counted(what, want, func() { r.doorbell(rx, q, pi) })
		}
		ring("a queue that was never enabled", bad, 5, 0)
		ring("a queue that was never enabled", bad, 5, 1)
		if beyond < nicspec.RxqMax {
			ring("the first queue beyond the build", bad, beyond, 1)
			ring("the last queue there could be", bad, nicspec.RxqMax-1, 0)
		}
		if rx {
			r.openRx(5, 2, nil)
		} else {
			r.openTx(5, 2) // tx_enable is 0: entries may be fetched, none is started
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
		require.EqualValues(r.t, 4, le16(r.entry(table, 5)[48:]), "the producer index is that of the good doorbells")
		r.counted("two doorbells with one write", steps{dev(nicspec.CntDbBad): 2}, func() {
			off := nicspec.RegTxDoorbell(4)
			if rx {
				off = nicspec.RegRxDoorbell(4)
			}
			r.write2(off, 0, 2)
		})
		const many = 100 // more than wait anywhere on their way
		r.counted("two doorbells with one write, back to back", steps{dev(nicspec.CntDbBad): 2 * many}, func() {
			for range many {
				r.write2(nicspec.RegTxDoorbell(6), 1, 1)
			}
		})
		r.disable(table, 5)
		ring("a queue that was disabled", bad, 5, 4)
		if rx {
			r.openRx(5, nicspec.LogSizeMax, nil)
		} else {
			r.openTx(5, nicspec.LogSizeMax)
		}
		ring("the index it has, of an empty ring of the largest size", nil, 5, 0)
		require.Zero(r.t, le16(r.entry(table, 5)[50:]), "the consumer index stays")
		r.disable(table, 5)
	}
}

func le16(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }

// Indices run through 65,536, which the ring size divides, and doorbells and completion entries with them: Nops first, frames
// over the end.
func doorbellsWrap(r *rig) {
	const sends, nops = 24, 1<<16 - 10
	x, w := r.txSetup(3, 15)
	nop := encode(&nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}, nicspec.WqeBytes)
	for i := range x.Size() {
		nop[8] = byte(i)
		r.store(x.At(uint16(i)), nop)
	}
	r.synced()
	for _, x.PI = range []uint16{1 << 15, nops} {
		r.tell(&x.ring)
		r.until("entries end", func() bool { return r.read2(nicspec.RegCounter(dev(nicspec.CntTxCqe))) == uint64(x.PI) })
	}
	x.CQI = nops // the last lap of the completion ring has phase 0
	var all []nicspec.WqeFields
	for i := range sends {
		all = append(all, r.sound(w[i%2], uint64(i)))
	}
	r.transmit(x, all...)
	require.EqualValues(r.t, sends+nops-1<<16, x.PI)
	want := r.counters()
	require.EqualValues(r.t, nops+sends, want[dev(nicspec.CntTxWqe)])
	r.counted("one more than the ring holds", steps{dev(nicspec.CntDbBad): 1}, func() { r.doorbell(false, 3, uint32(x.PI+0x8001)) })
	r.counted("back over 0", steps{dev(nicspec.CntDbBad): 1}, func() { r.doorbell(false, 3, 0xffff) })
	r.counted("on", steps{dev(nicspec.CntTxWqe): 1, dev(nicspec.CntTxCqe): 1}, func() { r.doorbell(false, 3, uint32(x.PI+1)) })
}
