package nic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

func TestReceiveDropsAreCounted(t *testing.T) {
	r := openedRx(t, plainRig())
	c := r.nic.Regs()
	h, p := r.host, r.peers[0]
	expect := func(n nicspec.PortCounter, frame []byte) {
		t.Helper()
		before := c.Port(n, 0)
		dropped := c.Dropped(0)
		p.send(frame)
		r.idle()
		require.Equal(t, before+1, c.Port(n, 0), "%v", n)
		if n.IsDrop() {
			require.Equal(t, dropped+1, c.Dropped(0), "%v: only one counter steps", n)
		}
	}
	expect(nicspec.CntRxDropQueueOff, nictest.Pattern(60, 1))
	h.OpenRx(0, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 500 })
	expect(nicspec.CntRxDropNoDesc, nictest.Pattern(60, 1))
	for i := range 4 {
		h.Post(0, 0, uint64(i)*0x1000)
	}
	h.RingRx(0)
	expect(nicspec.CntRxDropTooLong, nictest.Pattern(501, 1))
	expect(nicspec.CntRxDelivered, nictest.Pattern(500, 1))
	expect(nicspec.CntRxDropRunt, nictest.Pattern(59, 1))
	expect(nicspec.CntRxDropOversize, nictest.Pattern(9217, 1))
	h.Write32(nicspec.RegRxDefault, uint32(nicspec.ActionQueue)<<16|64)
	expect(nicspec.CntRxDropQueueOff, nictest.Pattern(60, 1))
	h.Write32(nicspec.RegRxDefault, uint32(nicspec.ActionRss)<<16)
	expect(nicspec.CntRxDropNoRule, nictest.Pattern(60, 1))
	h.Write32(nicspec.RegRxCtrl, 7)
	bad := nictest.RoceFrame(64)
	expect(nicspec.CntRxDropIpCsum, bad)
	nictest.FixIP(bad)
	expect(nicspec.CntRxDropIcrc, bad)
	bad[34+6] = 1
	expect(nicspec.CntRxDropL4Csum, bad)
	h.Write32(nicspec.RegCtrl, 0)
	expect(nicspec.CntRxDropDisabled, nictest.Pattern(10, 1))
	require.EqualValues(t, 12, c.Port(nicspec.CntRxFrames, 0))
}

func TestSteering(t *testing.T) {
	r := openedRx(t, defaultRig())
	h := r.host
	for q := range 3 {
		h.OpenRx(q, 3, nil)
		for i := range 8 {
			h.Post(q, 0, 0x7000_0000+uint64(q*8+i)*0x1000)
		}
		h.RingRx(q)
	}
	rule := func(i int, action nicspec.Action, queue uint16, mod func(v, m nicspec.SteerKey)) {
		f := nicspec.RuleEntryFields{Valid: 1, Action: action, Queue: queue}
		mod(f.Value[:], f.Mask[:])
		var b [128]byte
		f.Encode(b[:])
		require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableRule, i, b[:]))
	}
	frame := nictest.RoceFrame(20)
	rule(7, nicspec.ActionQueue, 1, func(v, m nicspec.SteerKey) { v.SetIsRoce(true); m.SetIsRoce(true) })
	r.peers[0].send(frame)
	r.idle()
	e := h.RxCqe(1)
	require.EqualValues(t, 7, e.Rule())
	require.EqualValues(t, 7, e.DestQp())
	require.EqualValues(t, 1<<31|9, e.Psn())
	rule(3, nicspec.ActionQueue, 2, func(v, m nicspec.SteerKey) { v.SetDestQp(7); m.SetDestQp(0xff) })
	r.peers[0].send(frame)
	r.idle()
	require.EqualValues(t, 3, h.RxCqe(2).Rule())
	rule(0, nicspec.ActionDrop, 0, func(v, m nicspec.SteerKey) {})
	r.peers[0].send(frame)
	r.idle()
	require.EqualValues(t, 1, r.nic.Regs().Port(nicspec.CntRxDropRule, 0))
	require.EqualValues(t, 1, uint32(h.Reg(nicspec.RegRuleHits(0), 1)))
	require.EqualValues(t, 1, uint32(h.Reg(nicspec.RegRuleHits(7), 1)))
	require.EqualValues(t, 1, uint32(h.Reg(nicspec.RegRuleHits(3), 1)))
}

func TestDescriptorReadFails(t *testing.T) {
	for f, want := range map[inject.FaultKind]nicspec.Status{inject.FaultUR: nicspec.StatusCplUnsupported,
		inject.FaultSilent: nicspec.StatusCplTimeout} {
		r := openedRx(t, defaultRig())
		h := r.host
		h.Write32(nicspec.RegCplTimeout, 1)
		h.OpenRx(0, 4, nil)
		for i := range 12 {
			h.Post(0, 0, 0x7000_0000+uint64(i)*0x1000)
		}
		h.Fail(nictest.RxRing(0)+4*16, f)
		h.RingRx(0)
		r.idle()
		c := r.nic.Regs()
		require.Equal(t, nicspec.QueueStateError, c.Rxq(0).State)
		require.EqualValues(t, 1, c.Dev(nicspec.CntQueueErr))
		e := h.RxCqe(0)
		require.Equal(t, nicspec.CqeTypeEvent, e.Type())
		require.Equal(t, want, e.Status())
		require.EqualValues(t, 4, e.Index())
		require.Nil(t, h.RxCqe(0))
		r.peers[0].send(nictest.Pattern(60, 1))
		r.idle()
		require.EqualValues(t, 1, c.Port(nicspec.CntRxDropQueueErr, 0))

		entry := make([]byte, 64)
		require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableRxq, 0, entry))
		h.Faults.Clear()
		h.OpenRx(0, 4, nil)
		h.Post(0, 0, 0x7000_0000)
		h.RingRx(0)
		r.run()
		r.peers[0].send(nictest.Pattern(60, 2))
		r.idle()
		require.EqualValues(t, 1, c.Port(nicspec.CntRxDelivered, 0))
		require.Equal(t, nictest.Pattern(60, 2), h.Bytes(0x7000_0000, 60))
	}
}

func TestOverflowOnlyWhenFull(t *testing.T) {
	r := openedRx(t, defaultRig())
	h := r.host
	h.OpenRx(0, 8, nil)
	for i := range 200 {
		h.Post(0, 0, 0x7000_0000+uint64(i)*0x4000)
	}
	h.RingRx(0)
	r.run()
	h.Gate.Close()
	const n = 1024
	for range 100 {
		r.peers[0].send(nictest.Pattern(n, 3))
	}
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+20*simcore.Microsecond))
	c := r.nic.Regs()
	drops := c.Port(nicspec.CntRxDropOverflow, 0)
	require.GreaterOrEqual(t, drops, uint64(100-nicspec.RxBufBytes/n-14))
	require.LessOrEqual(t, drops, uint64(100-(nicspec.RxBufBytes-9216)/n))
	h.Gate.Open()
	r.idle()
	require.EqualValues(t, 100, c.Port(nicspec.CntRxDelivered, 0)+drops)
	require.Zero(t, c.Dev(nicspec.CntCplTimeouts))
}

func TestDisableRxWhileAtWork(t *testing.T) {
	o := defaultRig()
	r := openedRx(t, o)
	h := r.host
	h.OpenRx(0, 6, nil)
	for i := range 64 {
		h.Post(0, 0, 0x7000_0000+uint64(i)*0x4000)
	}
	h.RingRx(0)
	r.run()
	for i := range 20 {
		r.peers[0].send(nictest.Pattern(3000, uint64(i)))
	}
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+700*simcore.Nanosecond))
	h.TableLater(nicspec.TableOpWrite, nicspec.TableRxq, 0, make([]byte, 64))
	r.idle()
	c := r.nic.Regs()
	n := c.Port(nicspec.CntRxDelivered, 0)
	require.Positive(t, n)
	require.EqualValues(t, 20-n, c.Port(nicspec.CntRxDropQueueOff, 0))
	require.False(t, c.Busy())
	h.OpenRx(0, 2, nil)
	h.Post(0, 0, 0x100)
	h.RingRx(0)
	r.run()
	r.peers[0].send(nictest.Pattern(100, 77))
	r.idle()
	require.Equal(t, nictest.Pattern(100, 77), h.Bytes(0x100, 100))
	e := h.RxCqe(0)
	require.Zero(t, e.Index())
	require.True(t, e.Phase())
}
