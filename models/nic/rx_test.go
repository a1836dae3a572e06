package nic

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

const rxDefaultQueue0 = uint32(nicspec.ActionQueue) << 16

func openedRx(t testing.TB, o rigOpt) *rig {
	r := newRig(t, o)
	r.host.Write32(nicspec.RegCtrl, 3)
	r.host.Write32(nicspec.RegRxDefault, rxDefaultQueue0)
	return r
}

func TestReceiveOneFrame(t *testing.T) {
	r := openedRx(t, defaultRig())
	r.host.OpenRx(0, 4, nil)
	r.host.Post(0, 0, 0x7000_0003)
	r.host.RingRx(0)
	r.run()
	frame := nictest.Pattern(333, 1)
	r.peers[0].send(frame)
	r.idle()
	require.Equal(t, frame, r.host.Bytes(0x7000_0003, 333))
	e := r.host.RxCqe(0)
	require.NotNil(t, e)
	require.Equal(t, nicspec.CqeTypeRx, e.Type())
	require.EqualValues(t, 333, e.FrameLen())
	require.EqualValues(t, nicspec.RuleNone, e.Rule())
	require.Nil(t, r.host.RxCqe(0))
}

// TestLevels checks the lengths of queues before a frame is received, when its bytes leave the device, and behind it.
func TestLevels(t *testing.T) {
	r := openedRx(t, defaultRig())
	r.host.OpenRx(0, 4, nil)
	for i := range 5 {
		r.host.Post(0, 0, 0x7000_0000+uint64(i)*0x1000)
	}
	r.host.RingRx(0)
	r.run()
	require.Equal(t, Levels{Descriptors: 5}, r.nic.Levels())
	var most Levels
	r.nic.Observe(func(x boundary.Crossing) {
		if x.Kind == boundary.TLPOut && most.RxBytes == 0 {
			most = r.nic.Levels()
		}
	})
	r.peers[0].send(nictest.Pattern(333, 1))
	r.idle()
	require.Equal(t, Levels{RxBytes: most.RxBytes, RxFrames: 1, Descriptors: 4}, most)
	require.GreaterOrEqual(t, most.RxBytes, 333)
	require.Equal(t, Levels{Descriptors: 4}, r.nic.Levels())
}

func TestReceiveManyFrames(t *testing.T) {
	for _, stall := range []int{0, 40} {
		o := defaultRig()
		o.spec.Ports = 2
		o.shuffle, o.seed = true, 7
		o.stalls = &inject.Stalls{Seed: 3, Percent: stall}
		r := openedRx(t, o)
		r.host.OpenRx(0, 6, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 70
		})
		for i := range 64 {
			r.host.Post(0, 0x8000_0000+uint64(i)*0x1000+1, 0x0100_0000_0000_0002+uint64(i)*0x4000)
		}
		r.host.RingRx(0)
		r.run()
		var sent [2][][]byte
		for i := range 60 {
			n := 60 + int(nictest.Mix(uint64(i))%3000)
			f := nictest.Pattern(n, uint64(i))
			sent[i&1] = append(sent[i&1], f)
			r.peers[i&1].send(f)
			if i%8 == 7 {
				r.run()
			}
		}
		r.idle()
		var next [2]uint32
		for i := range 60 {
			e := r.host.RxCqe(0)
			require.NotNil(t, e, "entry %d", i)
			p := e.Port()
			require.Equal(t, next[p], e.PortSeq())
			want := sent[p][next[p]]
			next[p]++
			require.EqualValues(t, i, e.Index())
			h := int(e.HdrLen())
			require.Equal(t, min(70, len(want)), h)
			got := append(r.host.Bytes(0x8000_0000+uint64(i)*0x1000+1, h),
				r.host.Bytes(0x0100_0000_0000_0002+uint64(i)*0x4000, len(want)-h)...)
			require.True(t, bytes.Equal(want, got), "frame %d", i)
		}
		require.Empty(t, r.mon.End())
	}
}
