package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

const ctrlFlr = 1 << 31

func flrSpec() nicspec.Build {
	s := nicspec.DefaultBuild()
	s.Parts = nicspec.PartsAll
	return s
}

func TestResetOfRegisters(t *testing.T) {
	r, fresh := NewRegs(flrSpec()), NewRegs(flrSpec())
	for off := uint32(0); off < 0x200; off += 4 {
		if off != nicspec.RegTblCmd && off != nicspec.RegCtrl {
			r.Write32(off, 0x0101_0101)
		}
	}
	r.Write32(nicspec.RegCtrl, 3)
	f := nicspec.RxqEntryFields{Enable: 1, LogSize: 2, RingBase: 64, CqBase: 128, PayBufSize: 1}
	b := make([]byte, 64)
	f.Encode(b)
	require.Equal(t, nicspec.TableStatusOk, r.commit(nicspec.TableRxq, 0, b).Status)
	r.Step(nicspec.CntTxWqe)
	r.Hit(3)

	require.Equal(t, EffectReset, r.Write32(nicspec.RegCtrl, ctrlFlr|3).Kind)
	require.EqualValues(t, ctrlFlr, r.Read32(nicspec.RegCtrl))
	require.False(t, r.Config().RxEnable)
	require.False(t, r.TxEnable())
	var o Outcome
	var hdr [tlp.HeaderBytes]byte
	for _, off := range []uint32{nicspec.RegCtrl, nicspec.RegScratch, nicspec.RegTxPush(1), nicspec.RegRxDoorbell(0),
		nicspec.RegId} {
		h := tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 2, FirstBE: 0xf, LastBE: 0xf, Address: nicspec.BarBase +
			uint64(off)&^7}
		require.NoError(t, h.Encode(&hdr))
		bad := r.Dev(nicspec.CntRegBad)
		r.Take(&hdr, []byte{1, 0, 0, 0, 1, 0, 0, 0}, &o)
		require.Equal(t, bad+1, r.Dev(nicspec.CntRegBad))
		require.Equal(t, EffectRegBad, o.Effects[0].Kind)
	}
	require.EqualValues(t, ctrlFlr, r.Read32(nicspec.RegCtrl))

	r.EndReset()
	require.False(t, r.Resetting())
	for off := uint32(0); off < nicspec.RegCounterBase; off += 4 {
		require.Equal(t, fresh.Read32(off), r.Read32(off), "%#x", off)
	}
	require.Equal(t, nicspec.QueueStateOff, r.Rxq(0).State)
	require.EqualValues(t, 1, r.Dev(nicspec.CntTxWqe))
	require.EqualValues(t, 1, r.Hits(3))
}

func TestNoResetWithoutThePart(t *testing.T) {
	s := nicspec.DefaultBuild()
	s.Parts = nicspec.PartsAll &^ nicspec.PartFlr
	r := NewRegs(s)
	require.Equal(t, EffectConfig, r.Write32(nicspec.RegCtrl, ctrlFlr|2).Kind)
	require.EqualValues(t, 2, r.Read32(nicspec.RegCtrl))
}
