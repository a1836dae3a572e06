package hostnet

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// pair returns the server of the CEIO testbed and one of its clients, back to back.
func pair(t testing.TB) board.RackSpec {
	s, err := board.RackPreset("ce-fleet")
	require.NoError(t, err)
	s.Fleet.Machines = 1
	s.Network = board.NetworkSpec{Kind: board.NetworkBackToBack, Latency: s.Network.Latency}
	return s
}

func model() board.Factory { return device.Slots(device.Spec{NIC: device.Model}, nil) }

// echo adds a flow that echoes requests in frames of the given length.
func (d *duo) echo(core, frame int, l apps.Load) *apps.EchoClient {
	headers := hostbed.Ends(0, 1, 1, 1, d.v6)
	bytes, seed := frame-headers.HeaderBytes()-rpc.DataBytes, uint64(len(d.server.Flows))
	client, err := apps.NewEchoClient(seed, bytes, l)
	require.NoError(d, err)
	var buffers hostnet.Buffers
	if frame > hostnet.DefaultSpec().BufferBytes {
		buffers.Bytes = nicspec.FrameMax
	}
	d.add(core, rpc.DefaultSpec(bytes), hostnet.FlowConfig{Server: apps.NewEchoServer(seed, bytes), Buffers: buffers},
		hostnet.FlowConfig{Client: client, Outstanding: 64, Buffers: buffers})
	return client
}

// TestEcho checks every byte of echoes from the shortest frames to jumbo frames.
func TestEcho(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, frame := range []int{64, 144, 512, 1024, 1500, 9000} {
			if v6 {
				frame = max(frame, 79)
			}
			t.Run(fmt.Sprintf("v6=%v/%d", v6, frame), func(t *testing.T) {
				d := newDuo(t)
				d.v6 = v6
				const requests = 1000
				var last, sum apps.Ps
				d.echo(0, frame, apps.Load{Requests: requests}).OnAnswer = func(queued, answered apps.Ps) {
					last, sum = answered, sum+answered-queued
				}
				d.open()
				from := apps.Ps(d.Engine.Now())
				require.Zero(t, d.finish())
				t.Logf("%.2f Mpps, mean latency %.1f us", requests*1e6/float64(last-from), float64(sum)/requests/1e6)
			})
		}
	}
}

// TestFleet has eight clients on a switch ask one server at once, each on a core of its own, some with messages that
// bypass the core, and checks that a second run takes the same time.
func TestFleet(t *testing.T) {
	first := playFleet(t)
	require.Equal(t, first, playFleet(t))
}

func playFleet(t *testing.T) (ended simcore.Ps) {
	rack, err := board.RackPreset("ce-fleet")
	require.NoError(t, err)
	machines := []hostbed.Machine{{Spec: hostnet.DefaultSpec()}}
	var duos []*duo
	for i := 1; i <= rack.Fleet.Machines; i++ {
		d := newDuo(t)
		duos = append(duos, d)
		if i%4 == 0 {
			d.chunks(i-1, chunkSpec(), false, false, apps.Load{Requests: 6})
		} else {
			d.kv(i-1, apps.DefaultKV(), apps.Load{Requests: 400})
		}
		server, client := d.server.Flows[0], d.client.Flows[0]
		port := uint16(7000 + i)
		server.Ends, client.Ends = hostbed.Ends(0, i, port, port, false), hostbed.Ends(i, 0, port, port, false)
		client.Core = 0
		machines[0].Flows = append(machines[0].Flows, server)
		machines = append(machines, hostbed.Machine{Spec: d.client.Spec, Flows: []hostnet.FlowConfig{client}})
	}
	b, err := hostbed.New(hostbed.Config{Rack: rack, Factory: model(), Machines: machines})
	require.NoError(t, err)
	for _, d := range duos {
		d.Bed = b
	}
	b.Start()
	require.NoError(t, b.Settle())
	ended = b.Engine.Now()
	drops, err := b.ReadDrops()
	require.NoError(t, err)
	require.Zero(t, drops[0], "rings are ready when the clients begin")
	for i, n := range b.Nodes {
		for f := range n.Flows() {
			s := n.FlowStats(f)
			require.Zero(t, s.Broken)
			require.Equal(t, s.Client.Requests, s.Client.Answers)
			require.Zero(t, s.Client.Timeouts, "machine %d", i)
		}
	}
	require.NoError(t, b.Close())
	return ended
}
