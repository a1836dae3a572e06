package ceio

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	nics "nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/ceio/path"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// server is the server of CEIO's testbed and one of its clients, back to back, with flows of echoes.
type server struct {
	testing.TB
	*hostbed.Bed
	s     *path.Server
	spec  path.Spec
	nic   string
	cores int                 // of the host, which flows use in turn
	node  hostnet.Spec        // of the server
	loads []apps.Load         // by flow
	arm   func(b *board.Card) // called with the card before the server is opened
	split bool
}

func newServer(t testing.TB, flows int) *server {
	s := &server{TB: t, spec: path.DefaultSpec(), nic: nics.Model, cores: 2, node: hostnet.DefaultSpec()}
	s.spec.Flows, s.spec.Credits, s.spec.Batch = flows, 64, 8
	s.spec.SlowSlots, s.spec.Landing = 1024, 256
	s.node.LogReceive = 8
	for range flows {
		s.loads = append(s.loads, apps.Load{Requests: 1500})
	}
	return s
}

const echoBytes = 400

// open builds the bed and lets the clients begin.
func (s *server) open() error {
	rack, err := board.RackPreset("ce-fleet")
	require.NoError(s, err)
	rack.Fleet.Machines = 1
	rack.Network = board.NetworkSpec{Kind: board.NetworkBackToBack, Latency: rack.Network.Latency}
	m := []hostbed.Machine{{Spec: s.node}, {Spec: hostnet.DefaultSpec()}}
	for i, l := range s.loads {
		client, err := apps.NewEchoClient(uint64(i), echoBytes, l)
		require.NoError(s, err)
		port := uint16(7000 + i)
		open := func(c hostnet.PathConfig) (hostnet.Path, error) { return s.s.Open(c) }
		var buffers hostnet.Buffers
		if s.split {
			buffers = hostnet.Buffers{Split: 100, HeaderBytes: 128}
		}
		r := rpc.DefaultSpec(echoBytes)
		m[0].Flows = append(m[0].Flows, hostnet.FlowConfig{Core: i % s.cores, RPC: r, Path: open, Buffers: buffers,
			Ends: hostbed.Ends(0, 1, port, port, false), Server: apps.NewEchoServer(uint64(i), echoBytes)})
		m[1].Flows = append(m[1].Flows, hostnet.FlowConfig{Core: i % 4, RPC: r, Client: client, Outstanding: 256,
			Ends: hostbed.Ends(1, 0, port, port, false)})
	}
	s.Bed, err = hostbed.New(hostbed.Config{Rack: rack, Factory: nics.Slots(nics.Spec{NIC: s.nic}, nil), Machines: m,
		Open: s.openPaths})
	if err == nil {
		s.Start()
	}
	return err
}

func (s *server) openPaths(machine int, c *board.Card, n *hostnet.Config) error {
	if machine != 0 {
		return nil
	}
	cfg := path.Config{Spec: s.spec, Period: c.NIC.Period(), Build: n.Build}
	if s.spec.Controller == manager.ControlArm {
		core, err := c.Memory.Host(nicspec.EndpointArm).Core(0, 0)
		if err != nil {
			return err
		}
		if cfg.Arm, err = corebus.New(core.Core, c.Root.MMIO(nicspec.RequesterArm), corebus.DefaultSpec()); err != nil {
			return err
		}
		if s.arm != nil {
			s.arm(c)
		}
	}
	var err error
	s.s, err = path.New(cfg)
	return err
}

// finish waits for all answers and checks that nothing was lost, and nothing sent twice. It returns what the manager
// did.
func (s *server) finish() manager.Stats {
	s.Helper()
	require.NoError(s, s.Settle())
	drops, err := s.ReadDrops()
	require.NoError(s, err)
	lost := uint64(0)
	for i := range s.loads {
		a, b := s.Nodes[0].FlowStats(i), s.Nodes[1].FlowStats(i)
		require.Equal(s, b.Client.Requests, b.Client.Answers)
		require.EqualValues(s, s.loads[i].Requests, b.Client.Answers)
		lost += b.Client.Packets - a.Server.Packets - a.Server.ReceiverStats.Again
	}
	require.Equal(s, drops[0].Buffer+drops[0].Descriptor, lost, "the sender repairs what the NIC dropped")
	require.NoError(s, s.s.Manager().Err())
	require.NoError(s, s.s.Manager().Credits().Check())
	require.NoError(s, s.Close())
	stats := s.s.Manager().Stats()
	s.Logf("%+v", stats)
	return stats
}

// TestServer plays echoes through CEIO's path with slow cores, so that flows run out of credits: every byte is checked
// at both ends, and the order by rpc.
func TestServer(t *testing.T) {
	for _, controller := range []manager.Controller{manager.ControlNIC, manager.ControlArm} {
		t.Run(string(controller), func(t *testing.T) {
			s := newServer(t, 4)
			s.spec.Controller = controller
			s.node.ReceiveCycles = 2000
			require.NoError(t, s.open())
			got := s.finish()
			require.GreaterOrEqual(t, got.Exhausted, uint64(3))
			require.Equal(t, controller == manager.ControlArm, got.Overshoot > 0)
		})
	}
}
