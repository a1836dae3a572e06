package hostnet

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
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

// echo adds a flow that echoes requests between machine 1 and the server.
func echo(t testing.TB, server, client *hostbed.Machine, peer, flow, core, frame int, l apps.Load, v6 bool) {
	port := uint16(7000 + flow)
	s := hostnet.FlowConfig{Core: core, Ends: hostbed.Ends(0, peer, port, port, v6)}
	bytes := frame - s.Ends.HeaderBytes() - rpc.DataBytes
	s.RPC = rpc.DefaultSpec(max(bytes, 1))
	s.Server = apps.NewEchoServer(uint64(flow), bytes)
	c := hostnet.FlowConfig{Ends: hostbed.Ends(peer, 0, port, port, v6), RPC: s.RPC, Outstanding: 64}
	app, err := apps.NewEchoClient(uint64(flow), bytes, l)
	require.NoError(t, err)
	c.Client = app
	server.Flows, client.Flows = append(server.Flows, s), append(client.Flows, c)
}

func TestEcho(t *testing.T) {
	for _, frame := range []int{64, 144, 512, 1024, 1500} {
		t.Run(fmt.Sprint(frame), func(t *testing.T) {
			m := []hostbed.Machine{{Spec: hostnet.DefaultSpec()}, {Spec: hostnet.DefaultSpec()}}
			echo(t, &m[0], &m[1], 1, 0, 0, frame, apps.Load{Requests: 2000}, false)
			b, err := hostbed.New(hostbed.Config{Rack: pair(t), Factory: model(), Machines: m})
			require.NoError(t, err)
			b.Start()
			from := b.Engine.Now()
			require.NoError(t, b.Settle())
			s := b.Nodes[1].FlowStats(0).Client
			t.Logf("%d requests of %d B in %v: %+v %+v", s.Requests, frame, b.Engine.Now()-from, s,
				b.Nodes[0].FlowStats(0).Server)
			require.EqualValues(t, 2000, s.Answers)
			require.NoError(t, b.Close())
		})
	}
}
