package ceio

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	nics "nictwin/scenarios/bed/device"
	"nictwin/stack/apps/kind"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/hostnet/apps"
)

func chunkSpec() apps.ChunkSpec {
	return apps.ChunkSpec{ChunkSpec: kind.DefaultChunks(), ChunkBytes: 100_000, Outstanding: 2}
}

// TestApplications plays echoes from the shortest frames to jumbo frames, chunks of many packets, and VXLAN, at once,
// with few credits: every byte is checked.
func TestApplications(t *testing.T) {
	for _, x := range []struct {
		nic        string
		v6         bool
		controller manager.Controller
		requests   uint32
	}{
		{nics.Model, false, manager.ControlNIC, 1000}, {nics.Model, true, manager.ControlNIC, 1000},
		{nics.Model, false, manager.ControlArm, 1000}, {nics.RTL, false, manager.ControlNIC, 100},
	} {
		t.Run(fmt.Sprintf("%s/v6=%v/%s", x.nic, x.v6, x.controller), func(t *testing.T) {
			s := newServer(t, 5)
			s.nic, s.v6, s.spec.Controller = x.nic, x.v6, x.controller
			s.spec.Landing, s.node.LogReceive, s.node.ReceiveCycles = 512, 9, 1000
			load := apps.Load{Requests: x.requests}
			var placed, copied *apps.ChunkServer
			var sink *apps.VXLANSink
			s.kinds = []flowKind{echo{6, load}, echo{8942 - 16, load},
				chunks{chunkSpec(), apps.Load{Requests: x.requests / 25}, false, &placed},
				chunks{chunkSpec(), apps.Load{Requests: x.requests / 25}, true, &copied},
				vxlan{apps.Load{Requests: x.requests, EveryPs: 50_000}, &sink}}
			require.NoError(t, s.open())
			got := s.finish()
			require.GreaterOrEqual(t, min(got.Exhausted, got.Drains, got.Resumes), uint64(3))
			require.EqualValues(t, x.requests/25*100_000, placed.Stats().Bytes)
			require.EqualValues(t, x.requests/25*100_000, copied.Stats().Bytes)
			require.Less(t, copied.Stats().Runs, uint64(x.requests/25)*72/2, "payload is adjacent on either path")
			all := sink.Stats().Missing
			for _, n := range sink.Networks() {
				all += n
			}
			require.EqualValues(t, x.requests, all)
		})
	}
}

// TestMarks has slow cores and few landing buffers, so that the slow path grows: packets are marked, and their IP
// headers stay as they are; the receivers count the marks, and the clients reduce their windows.
func TestMarks(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		var windows [2]int64
		for i, marks := range []bool{false, true} {
			s := newServer(t, 2)
			s.v6, s.seen = v6, &headers{}
			s.spec.Credits, s.spec.Landing, s.node.ReceiveCycles = 16, 32, 2000
			if !marks {
				s.spec.MarkEvery = 1e15 // no period ends
			}
			require.NoError(t, s.open())
			require.NoError(t, s.Settle())
			marked := uint64(0)
			for k := range s.kinds {
				marked += s.Nodes[0].FlowStats(k).Server.Marked
				windows[i] += s.Nodes[1].Window(k)
			}
			require.Equal(t, marks, marked > 0)
			require.Equal(t, s.seen.marked, marked)
			require.Equal(t, s.s.Stats().Marked, marked)
			require.Zero(t, s.seen.wrong, "IP headers that were changed")
			s.finish()
		}
		t.Logf("windows without and with marks: %v", windows)
		require.Less(t, windows[1], windows[0])
	}
}
