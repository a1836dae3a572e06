package transmit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/scenarios/suite/contract/kit"
)

// LongDisableChecks disable a queue while the blocks of an entry arrive, one after the other.
var LongDisableChecks = []kit.Check{
	{Name: "long entries/their queue is disabled while their blocks come", Rules: "T11 T14", Stalls: kit.Stalled,
		Run: longCutOff},
	{Name: "long entries/their queue is disabled while their blocks are pushed", Rules: "T11 T14 W1 W2",
		Stalls: kit.Calm, Run: longPushedOff},
}

// disguised returns an entry of several blocks with a frame of inline bytes, in which each further block looks like a
// valid entry.
func disguised(id uint32, blocks int) []byte {
	inline := make([]byte, 112)
	nop := nictest.Blocks(1, 0xdead, nil, nil, func(w nicspec.Wqe) { w.SetOpcode(nicspec.OpcodeNop) })
	copy(inline[len(inline)-len(nop):], nop)
	b := nictest.Blocks(blocks, id, inline, nil, nil)
	for at := 2 * nicspec.WqeBytes; at < len(b); at += nicspec.WqeBytes {
		copy(b[at:], nop)
	}
	return b
}

// longCutOff disables a queue a cycle later each time, from the first read of blocks on. The referee reports entries
// that do not exist, such as later blocks of an entry that was cut short.
func longCutOff(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 3)
	for delay := range 160 {
		x := r.OpenTx(3, 8)
		r.Stage(make([]byte, nicspec.TxqEntrySize))
		for i := range 64 {
			e := disguised(uint32(delay)<<8|uint32(i), 2+(i+delay)%3)
			for ; len(e) > 0; e = e[nicspec.WqeBytes:] {
				r.Store(x.NextSlot(), e[:nicspec.WqeBytes])
			}
		}
		asked := false
		r.Watch = func(c boundary.Crossing) {
			h := tlp.Parse(&c.TLP.Hdr)
			asked = asked || c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && h.Address == x.Base
		}
		r.RingDoorbell(&x.Ring)
		for range kit.Patience {
			if asked {
				break
			}
			r.Run(1)
		}
		require.True(r.T, asked, "blocks are read")
		r.Watch = nil
		r.Run(delay)
		r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpWrite, nicspec.TableTxq, x.Number))
		require.Equal(r.T, nicspec.TableStatusOk, r.CommandEnd())
		r.Quiet()
	}
	r.Out = nil
}

// longPushedOff disables the queue a few register writes before or after the second block of an entry is pushed.
func longPushedOff(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 3)
	for gap := range 48 {
		x := r.OpenTx(3, 5)
		r.Stage(make([]byte, nicspec.TxqEntrySize))
		e := disguised(uint32(gap), 2)
		push := func() {
			r.Store(x.NextSlot(), e[:nicspec.WqeBytes])
			Push(r, x.Number, e[:nicspec.WqeBytes])
			e = e[nicspec.WqeBytes:]
		}
		command := func() {
			r.Write(nicspec.RegTblCmd, kit.CommandWord(nicspec.TableOpWrite, nicspec.TableTxq, x.Number))
		}
		push()
		r.Run(200)
		first, second := push, command
		if gap%2 == 1 {
			first, second = command, push
		}
		first()
		for range gap / 2 {
			r.Write(nicspec.RegVersion, 0) // a write without effect
		}
		second()
		require.Equal(r.T, nicspec.TableStatusOk, r.CommandEnd())
		r.Quiet()
	}
	r.Out = nil
}
