package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// push pushes a work entry; if `slot` is set, it also writes the entry to its ring.
func (h *host) push(q int, raw []byte, slot bool) {
	if slot {
		h.PushWqe(q, raw)
		return
	}
	h.Tx[q].PI++
	h.Push(q, raw)
}

func openedPush(t testing.TB) *rig {
	o := defaultRig()
	o.spec.Parts, o.spec.NumTxq = nicspec.PartPush, 8
	return openedTx(t, o)
}

func TestPushedEntriesAreNotRead(t *testing.T) {
	r := openedPush(t)
	h := r.host
	h.OpenTx(1, 3)
	reads := 0
	r.trace = func(x boundary.Crossing) {
		if x.Kind == boundary.TLPOut && x.TLP.Parsed().Kind == tlp.MRd {
			reads++
		}
	}
	for i := range 40 {
		h.push(1, nictest.Wqe(uint32(i), nictest.Pattern(48, uint64(i)), nil, func(w nicspec.Wqe) { w.SetFPad(true) }),
			false)
		if i%4 == 3 {
			r.run()
		}
	}
	r.idle()
	require.Zero(t, reads)
	require.Len(t, r.peers[0].got, 40)
	for i, f := range r.peers[0].got {
		require.Equal(t, nictest.Pattern(48, uint64(i)), f.data[:48])
	}
	require.EqualValues(t, 40, r.nic.Regs().Dev(nicspec.CntTxWqe))
}

// TestPushBehindDoorbells: entries that are pushed and entries that are posted by doorbell in turn
// are sent in ring order. Pushes that the device cannot take at once are read from the ring.
func TestPushBehindDoorbells(t *testing.T) {
	r := openedPush(t)
	h := r.host
	h.OpenTx(2, 8)
	for i := range 120 {
		raw := nictest.Wqe(uint32(i), nictest.Pattern(48, uint64(i)), nil, func(w nicspec.Wqe) { w.SetFPad(true) })
		if i%3 == 0 {
			h.push(2, raw, true)
		} else {
			h.PostWqe(2, raw)
			h.RingTx(2)
		}
	}
	r.idle()
	require.Len(t, r.peers[0].got, 120)
	for i, f := range r.peers[0].got {
		require.Equal(t, nictest.Pattern(48, uint64(i)), f.data[:48])
	}
}

func TestBadPushes(t *testing.T) {
	r := openedPush(t)
	h := r.host
	h.Write32(nicspec.RegCtrl, 1)
	h.OpenTx(3, 2)
	raw := nictest.Wqe(1, nictest.Pattern(48, 1), nil, func(w nicspec.Wqe) { w.SetFPad(true) })
	for range 5 { // one more than the ring holds
		h.push(3, raw, true)
	}
	h.push(4, raw, true)   // queue 4 is Off
	h.push(9, raw, true)   // the build has no queue 9
	h.push(255, raw, true) // the build has no queue 255
	to := func(off uint32, n uint16, first, last uint8) {
		h.Send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: n, FirstBE: first, LastBE: last,
			Address: nicspec.BarBase + uint64(off)},
			make([]byte, 4*n))
	}
	bad := r.nic.Regs().Dev(nicspec.CntRegBad)
	to(nicspec.RegTxPush(3), 16, 0xe, 0xf)
	to(nicspec.RegTxPush(3), 16, 0xf, 7)
	to(nicspec.RegTxPush(3)+4, 16, 0xf, 0xf)
	to(nicspec.RegTxPush(3), 15, 0xf, 0xf)
	to(nicspec.RegTxPush(3), 1, 0xf, 0) // not a whole block: no register has this size [W3]
	require.Zero(t, uint32(h.Reg(nicspec.RegTxPush(3), 1)))
	r.run()
	require.EqualValues(t, 4, r.nic.Regs().Dev(nicspec.CntDbBad))
	require.EqualValues(t, bad+4, r.nic.Regs().Dev(nicspec.CntRegBad))
	require.Empty(t, r.peers[0].got)
	require.False(t, r.nic.Busy(), "entries that wait for tx_enable")
	h.Write32(nicspec.RegCtrl, 3)
	r.idle()
	require.Len(t, r.peers[0].got, 4)
}
