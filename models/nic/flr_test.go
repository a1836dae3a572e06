package nic

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// TestResetEnds: a reset ends although reads never complete, the receive path is full and a queue
// is being disabled [L5]. The ordinals of frames continue after it [L3].
func TestResetEnds(t *testing.T) {
	o := defaultRig()
	o.spec.Parts = nicspec.PartsAll
	r := openedRx(t, o)
	h := r.host
	h.Write32(nicspec.RegCplTimeout, 3000)
	h.OpenRx(0, 4, nil)
	h.Fail(nictest.RxRing(0), inject.FaultSilent)
	for i := range 8 {
		h.Post(0, 0, 0x7000_0000+uint64(i)*0x4000)
	}
	h.RingRx(0)
	for i := range 30 {
		r.peers[0].send(nictest.Pattern(500, uint64(i)))
	}
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+simcore.Microsecond))
	h.TableLater(nicspec.TableOpWrite, nicspec.TableRxq, 0, make([]byte, 64))
	h.Write32(nicspec.RegCtrl, 1<<31)
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+simcore.Microsecond))
	require.True(t, r.nic.Busy())
	require.True(t, r.nic.Regs().Resetting())
	r.idle()
	require.Zero(t, uint32(h.Reg(nicspec.RegCtrl, 1)))
	require.Zero(t, uint32(h.Reg(nicspec.RegTblCmd, 1)))
	require.EqualValues(t, nicspec.ResetCplTimeout, uint32(h.Reg(nicspec.RegCplTimeout, 1)))
	c := &r.nic.Regs().Counters
	require.EqualValues(t, 1, c.Dev(nicspec.CntCplTimeouts))
	require.EqualValues(t, 30, c.Dropped(0))

	h.Faults.Clear()
	h.Write32(nicspec.RegCtrl, 3)
	h.Write32(nicspec.RegRxDefault, rxDefaultQueue0)
	h.OpenRx(0, 4, nil)
	h.Post(0, 0, 0x7000_0000)
	h.RingRx(0)
	r.run()
	r.peers[0].send(nictest.Pattern(99, 1))
	r.idle()
	e := h.RxCqe(0)
	require.NotNil(t, e)
	require.EqualValues(t, 30, e.PortSeq())
	require.EqualValues(t, 0, e.Index())
}

// TestResetAsksNoCopy: a reset marks all copy channels as active. While no copy is in flight, they
// must not count as read clients: feedRead, called for them, would free tags or schedule the NIC.
func TestResetAsksNoCopy(t *testing.T) {
	o := defaultRig()
	o.spec.Parts, o.spec.Timing.Tags = nicspec.PartsAll, 1
	r := openedRx(t, o)
	h := r.host
	h.Write32(nicspec.RegCplTimeout, 3000)
	h.OpenRx(0, 4, nil)
	h.Fail(nictest.RxRing(0), inject.FaultSilent)
	h.Post(0, 0, 0x7000_0000)
	h.RingRx(0)
	require.NoError(t, r.eng.RunUntil(r.eng.Now()+simcore.Microsecond))
	h.Write32(nicspec.RegCtrl, 1<<31)
	marked := false
	for c := &r.nic.Regs().Counters; c.Dev(nicspec.CntCplTimeouts) == 0 || r.nic.Regs().Resetting(); {
		require.NoError(t, r.eng.RunUntil(r.eng.Now()+r.nic.period))
		require.Less(t, r.eng.Now(), simcore.Millisecond)
		marked = marked || r.nic.tx.copyAt.asks != 0
		require.Zero(t, r.nic.readClients()>>readCopy&1)
	}
	require.True(t, marked)
}

// gap stalls the Ethernet streams into the NIC between two cycles.
type gap struct{ from, to int64 }

func (g *gap) Of(stream string) func(cycle int64) bool {
	if !strings.HasPrefix(stream, StreamEthIn) {
		return nil
	}
	return func(cycle int64) bool { return cycle >= g.from && cycle < g.to }
}

// TestFrameHangsOverReset: a frame that stalls from before a reset until receive is enabled again
// is dropped as disabled [L2], and observers see the whole stall.
func TestFrameHangsOverReset(t *testing.T) {
	const from, to, n = 2000, 6000, 1500
	o := defaultRig()
	o.stalls = &gap{from, to}
	r := openedRx(t, o)
	h := r.host
	h.OpenRx(0, 4, nil)
	h.Post(0, 0, 0x7000_0000)
	h.RingRx(0)
	at := func(cycle int64) {
		t.Helper()
		require.NoError(t, r.eng.RunUntil(simcore.Ps(cycle)*r.nic.Spec().Freq.Period()))
	}
	var came boundary.Crossing
	var held []boundary.Held
	r.trace = func(x boundary.Crossing) {
		if x.Kind == boundary.FrameIn {
			came = x
		}
	}
	r.nic.ObserveHeld(func(x boundary.Held) {
		if x.Kind == boundary.FrameIn {
			held = append(held, x)
		}
	})
	at(from - 10)
	r.peers[0].send(nictest.Pattern(n, 1))
	at(from + 500)
	h.Write32(nicspec.RegCtrl, 1<<31)
	at(from + 2000)
	require.Zero(t, uint32(h.Reg(nicspec.RegCtrl, 1)), "the reset is over")
	h.Write32(nicspec.RegCtrl, 3)
	h.Write32(nicspec.RegRxDefault, rxDefaultQueue0)
	h.OpenRx(0, 4, nil)
	h.Post(0, 0, 0x7000_0000)
	h.RingRx(0)
	r.idle()
	require.Less(t, came.First, int64(from))
	require.GreaterOrEqual(t, came.Last, int64(to))
	require.Nil(t, h.RxCqe(0))
	c := &r.nic.Regs().Counters
	require.EqualValues(t, 1, c.Port(nicspec.CntRxDropDisabled, 0))
	require.EqualValues(t, 1, c.Dropped(0))
	total := int64(0)
	for _, x := range held {
		total += x.Last - x.First + 1
	}
	require.EqualValues(t, to-from, total)
}
