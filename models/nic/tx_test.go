package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// The test key covers the Arm memory from 0x9000_0000 on; its virtual addresses begin at 0.
const (
	testKey  = 5 | 0x5a<<24
	testBus  = 0x9000_0000
	testSpan = 0x1000_0000
)

func (h *host) setKey(i int, f nicspec.KeyEntryFields) {
	h.rig.t.Helper()
	var b [32]byte
	f.Encode(b[:])
	require.Equal(h.rig.t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableKey, i, b[:]))
}

func openedTx(t testing.TB, o rigOpt) *rig {
	r := newRig(t, o)
	r.host.Write32(nicspec.RegCtrl, 3)
	r.host.setKey(5, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 0x5a, Length: testSpan,
		BusBase: testBus})
	r.host.setKey(6, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 1, VaBase: 1 << 40, Length: testSpan,
		BusBase: 0x0100_0000_4000_0000})
	return r
}

func TestSendFrames(t *testing.T) {
	for _, stall := range []int{0, 40} {
		o := defaultRig()
		o.spec.Ports = 2
		o.shuffle, o.seed = true, 11
		o.stalls = &inject.Stalls{Seed: 5, Percent: stall}
		r := openedTx(t, o)
		const queues, each = 4, 40
		var want [queues][][]byte
		for q := range queues {
			r.host.OpenTx(q, 6)
			for i := range each {
				frame := nictest.Pattern(60+int(nictest.Mix(uint64(q*1000+i))%2500), uint64(q*1000+i))
				want[q] = append(want[q], frame)
				inline := int(nictest.Mix(uint64(i)) % 33)
				cut := inline + 1 + int(nictest.Mix(uint64(i)+1)%uint64(len(frame)-inline-1))
				base := uint64(q*each+i) * 0x2000
				r.host.Write(testBus+base+3, frame[inline:cut])
				pieces := []nictest.Piece{{Key: testKey, Addr: base + 3, N: cut - inline}}
				if cut < len(frame) && inline <= 16 {
					r.host.Write(0x0100_0000_4000_0000+base+1, frame[cut:])
					pieces = append(pieces, nictest.Piece{Key: 6 | 1<<24, Addr: 1<<40 + base + 1, N: len(frame) - cut})
				} else {
					r.host.Write(testBus+base+3, frame[inline:])
					pieces[0].N = len(frame) - inline
				}
				r.host.PostWqe(q, nictest.Wqe(uint32(i), frame[:inline], pieces, func(w nicspec.Wqe) {
					w.SetPort(uint8(nictest.Mix(uint64(q+i)) & 1))
					w.SetFComplete(i%3 == 0)
				}))
			}
			r.host.RingTx(q)
		}
		r.idle()
		var got [queues]map[string]bool
		for q := range queues {
			got[q] = map[string]bool{}
		}
		total := 0
		for p, e := range r.peers {
			var last [queues]int
			for _, f := range e.got {
				got[f.queue][string(f.data)] = true
				total++
				i := index(want[f.queue], f.data)
				require.GreaterOrEqual(t, i, last[f.queue], "port %d queue %d: order", p, f.queue)
				last[f.queue] = i
			}
		}
		require.Equal(t, queues*each, total)
		for q := range queues {
			require.Len(t, got[q], each)
			for i := 0; i < each; i += 3 {
				e := r.host.TxCqe(q)
				require.NotNil(t, e)
				require.Equal(t, nicspec.StatusOk, e.Status())
				require.EqualValues(t, i, e.Index())
				require.EqualValues(t, i, e.WqeId())
				require.EqualValues(t, len(want[q][i]), e.FrameLen())
			}
			require.Nil(t, r.host.TxCqe(q))
		}
		require.EqualValues(t, queues*each, r.nic.Regs().Dev(nicspec.CntTxWqe))
		require.Empty(t, r.mon.End())
	}
}

func index(frames [][]byte, f []byte) int {
	for i, w := range frames {
		if string(w) == string(f) {
			return i
		}
	}
	return -1
}

func TestSendOffloads(t *testing.T) {
	r := openedTx(t, defaultRig())
	r.host.OpenTx(1, 4)
	frame := nictest.RoceFrame(100)
	r.host.Write(testBus, frame)
	off := func(w nicspec.Wqe) {
		w.SetL3Off(14)
		w.SetL4Off(34)
		w.SetFIpCsum(true)
		w.SetFUdpCsum(true)
		w.SetFIcrc(true)
	}
	r.host.PostWqe(1, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: len(frame)}}, off))
	r.host.PostWqe(1, nictest.Wqe(2, []byte("tiny"), nil, func(w nicspec.Wqe) { w.SetFPad(true) }))
	r.host.RingTx(1)
	r.idle()
	require.Len(t, r.peers[0].got, 2)
	f := r.peers[0].got[0].data
	require.Equal(t, wire.OK, wire.VerifyFrameICRC(f).Verdict)
	require.Equal(t, wire.OK, wire.VerifyIPv4Header(f[14:]))
	require.Equal(t, wire.OK, wire.VerifyUDPChecksum(f[14:]))
	require.Equal(t, append([]byte("tiny"), make([]byte, 56)...), r.peers[0].got[1].data)
	for _, n := range []int{len(frame), 60} {
		require.EqualValues(t, n, r.host.TxCqe(1).FrameLen())
	}
}

func TestSendErrorsDoNotStopTheQueue(t *testing.T) {
	o := defaultRig()
	r := openedTx(t, o)
	r.host.Write32(nicspec.RegCplTimeout, 0)
	r.host.OpenTx(2, 5)
	frame := nictest.Pattern(2000, 9)
	faults := []struct {
		f    inject.FaultKind
		want nicspec.Status
	}{
		{inject.FaultUR, nicspec.StatusCplUnsupported}, {inject.FaultCA, nicspec.StatusCplAbort},
		{inject.FaultPoison, nicspec.StatusCplPoison},
		{inject.FaultByteCount, nicspec.StatusCplMalformed}, {inject.FaultSilent, nicspec.StatusCplTimeout},
	}
	for i, f := range faults {
		base := uint64(i) * 0x10000
		r.host.Fail(testBus+base+512, f.f)
		r.host.Write(testBus+base, frame)
		r.host.PostWqe(2, nictest.Wqe(uint32(2*i), nil, []nictest.Piece{{Key: testKey, Addr: base, N: 2000}}, nil))
		r.host.Write(testBus+base+0x8000, frame)
		r.host.PostWqe(2, nictest.Wqe(uint32(2*i+1), nil, []nictest.Piece{{Key: testKey, Addr: base + 0x8000, N: 2000}},
			nil))
	}
	r.host.RingTx(2)
	r.idle()
	require.Len(t, r.peers[0].got, len(faults))
	for i, f := range faults {
		e := r.host.TxCqe(2)
		require.Equal(t, f.want, e.Status(), "fault %d", i)
		require.EqualValues(t, 2*i, e.WqeId())
		require.Zero(t, e.FrameLen())
		require.Equal(t, nicspec.StatusOk, r.host.TxCqe(2).Status())
	}
	c := r.nic.Regs()
	require.EqualValues(t, len(faults), c.Dev(nicspec.CntTxErr))
	require.EqualValues(t, 2*len(faults), c.Dev(nicspec.CntTxWqe))
	require.EqualValues(t, 4, c.Dev(nicspec.CntCplErr))
	require.EqualValues(t, 1, c.Dev(nicspec.CntCplTimeouts))
}

func TestWorkEntryReadFails(t *testing.T) {
	o := defaultRig()
	o.shuffle, o.seed = true, 3
	r := openedTx(t, o)
	r.host.OpenTx(0, 5)
	frame := nictest.Pattern(100, 1)
	r.host.Write(testBus, frame)
	for i := range 20 {
		r.host.PostWqe(0, nictest.Wqe(uint32(i), nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 100}}, nil))
	}
	r.host.Fail(nictest.TxRing(0)+8*64, inject.FaultUR)
	r.host.RingTx(0)
	r.idle()
	require.Len(t, r.peers[0].got, 8)
	for i := range 8 {
		require.EqualValues(t, i, r.host.TxCqe(0).WqeId())
	}
	e := r.host.TxCqe(0)
	require.Equal(t, nicspec.CqeTypeEvent, e.Type())
	require.Equal(t, nicspec.StatusCplUnsupported, e.Status())
	require.EqualValues(t, 8, e.Index())
	require.Nil(t, r.host.TxCqe(0))
	c := r.nic.Regs()
	require.Equal(t, nicspec.QueueStateError, c.Txq(0).State)
	require.EqualValues(t, 1, c.Dev(nicspec.CntQueueErr))
	r.host.RingTx(0)
	r.idle()
	require.EqualValues(t, 1, c.Dev(nicspec.CntDbBad))

	require.Equal(t, nicspec.TableStatusOk, r.host.Table(nicspec.TableOpWrite, nicspec.TableTxq, 0, make([]byte, 64)))
	r.host.Faults.Clear()
	r.host.OpenTx(0, 5)
	r.host.Write(nictest.TxCq(0), make([]byte, 64*32))
	r.host.PostWqe(0, nictest.Wqe(77, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 100}}, nil))
	r.host.RingTx(0)
	r.idle()
	require.EqualValues(t, 77, r.host.TxCqe(0).WqeId())
}

func TestDisableTxWhileAtWork(t *testing.T) {
	o := defaultRig()
	r := openedTx(t, o)
	r.host.OpenTx(0, 6)
	r.host.Write(testBus, nictest.Pattern(9000, 1))
	for i := range 60 {
		r.host.PostWqe(0, nictest.Wqe(uint32(i), nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 9000}}, nil))
	}
	r.host.RingTx(0)
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+1_500_000))
	r.host.TableLater(nicspec.TableOpWrite, nicspec.TableTxq, 0, make([]byte, 64))
	tag := r.host.Ask(nicspec.RegTblCmd, 1)
	for range 100 {
		if _, ok := r.host.Answers[tag]; ok {
			break
		}
		require.NoError(t, r.eng.RunUntil(r.eng.Now()+100_000))
	}
	require.True(t, nicspec.TblCmdReg(uint32(r.host.Answers[tag].Data[3])<<24).Busy())
	r.host.Write32(nicspec.RegTblCmd, 0) // is ignored, since a command is busy
	r.idle()
	require.False(t, nicspec.TblCmdReg(uint32(r.host.Reg(nicspec.RegTblCmd, 1))).Busy())
	c := r.nic.Regs()
	require.EqualValues(t, 1, c.Dev(nicspec.CntRegBad))
	n := int(c.Dev(nicspec.CntTxWqe))
	require.Positive(t, n)
	require.Less(t, n, 60+1)
	require.Len(t, r.peers[0].got, n)
	require.Equal(t, nicspec.QueueStateOff, c.Txq(0).State)
}

func TestTxEnableHoldsEntriesBack(t *testing.T) {
	r := openedTx(t, defaultRig())
	r.host.Write32(nicspec.RegCtrl, 1)
	r.host.OpenTx(0, 4)
	r.host.Write(testBus, nictest.Pattern(100, 1))
	r.host.PostWqe(0, nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: 100}}, nil))
	r.host.RingTx(0)
	r.idle()
	require.Empty(t, r.peers[0].got)
	r.host.Write32(nicspec.RegCtrl, 2)
	r.idle()
	require.Len(t, r.peers[0].got, 1)
}
