package nic

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// TestOnAkitasEngine: on Akita's own engine the NIC has the same crossings in the same cycles as on
// ours.
func TestOnAkitasEngine(t *testing.T) {
	type seen struct {
		kind        boundary.Kind
		first, last int64
	}
	play := func(e sim.Engine) (all []seen, values []uint64) {
		frames, tlps := new(msg.Frames), new(msg.TLPs)
		c, err := Builder{Scheduler: e, Spec: DefaultSpec(), Frames: frames, TLPs: tlps}.Build("NIC")
		require.NoError(t, err)
		r, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: mem.NewSparse(1 << 20),
			TLPs: tlps}.Build("Root")
		require.NoError(t, err)
		link := simcore.LinkSpec{Latency: 10 * simcore.Nanosecond, Credits: 64}
		_, err = simcore.Connect("PCIe", e, link, c.PCIe(), r.PCIe())
		require.NoError(t, err)
		peer := simcore.NewPort(nil, 16, "Peer.Eth")
		_, err = simcore.Connect("Wire", e, link, c.Eth(0), peer)
		require.NoError(t, err)
		c.Observe(func(x boundary.Crossing) { all = append(all, seen{x.Kind, x.First, x.Last}) })
		m := r.MMIO(nicspec.RequesterArm)
		keep := func(v uint64, err error) {
			require.NoError(t, err)
			values = append(values, v)
		}
		for i := range 20 {
			require.Nil(t, peer.SendAt(frames.Copy(make([]byte, 64+100*i)), simcore.Now(e)))
			require.NoError(t, m.Read(nicspec.RegId, 4, keep))
			require.NoError(t, m.Write32(nicspec.RegCtrl, 0))
			require.NoError(t, m.Read(nicspec.RegStatus, 4, keep))
			require.NoError(t, e.(interface{ Run() error }).Run())
		}
		require.NoError(t, r.Err())
		require.EqualValues(t, 20, c.Regs().Counters.Port(nicspec.CntRxFrames, 0))
		return all, values
	}
	all, values := play(simcore.NewEngine())
	require.Len(t, values, 40)
	require.Len(t, all, 20*(1+3+2), "a frame, three requests, two answers")
	again, same := play(sim.NewSerialEngine())
	require.Equal(t, all, again)
	require.Equal(t, values, same)
}
