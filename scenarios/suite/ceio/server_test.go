package ceio

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	nics "nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/ceio/path"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
)

// server is the server of CEIO's testbed and one of its clients, back to back, with a flow of each kind.
type server struct {
	testing.TB
	*hostbed.Bed
	s     *path.Server
	spec  path.Spec
	nic   string
	dut   string       // manifest of the RTL
	cores int          // of the host, which flows use in turn
	node  hostnet.Spec // of the server
	kinds []flowKind   // by flow
	arm   *cpu.Core    // of the card, with controller `arm`
	v6    bool
	lost  uint64 // packets that the NIC dropped

	strays uint32 // datagrams to the port of the last flow at another address

	seen *headers // looks at each packet that a path hands over; nil: nobody
}

func newServer(t testing.TB, flows int) *server {
	h, err := hometest.Find()
	require.NoError(t, err)
	s := &server{TB: t, spec: path.DefaultSpec(), nic: nics.Model, dut: h.Path("nic"), cores: 2,
		node: hostnet.DefaultSpec()}
	s.spec.Flows, s.spec.Credits, s.spec.Batch = flows, 64, 8
	s.spec.SlowSlots, s.spec.Landing = 1024, 256
	s.node.LogReceive = 8
	for range flows {
		s.kinds = append(s.kinds, echo{bytes: echoBytes, load: apps.Load{Requests: 1500}})
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
	client := hostnet.DefaultSpec()
	client.ReceiveCycles, client.TransmitCycles = 2, 2 // faster than the server
	m := []hostbed.Machine{{Spec: s.node}, {Spec: client}}
	for i, k := range s.kinds {
		a, b := k.flow(s, i)
		a.Core, b.Core, a.Path = i%s.cores, i%4, s.path
		m[0].Flows, m[1].Flows = append(m[0].Flows, a), append(m[1].Flows, b)
	}
	if s.strays > 0 {
		m[1].Flows = append(m[1].Flows, s.stray())
	}
	if s.nic != nics.Model {
		c := &rack.Servers[0].Cards[0]
		c.Device.Kind, c.Ports = board.DeviceRTL, 2 // the RTL that is built for other cards has two ports
		rack.Fleet.Card.Ports = 2
	}
	slots := nics.Slots(nics.Spec{NIC: nics.Model, DUT: s.dut, Variant: "speed"}, nil)
	s.Bed, err = hostbed.New(hostbed.Config{Rack: rack, Factory: slots, Machines: m, Open: s.openPaths})
	if err == nil {
		require.Equal(s, s.nic != nics.Model, fmt.Sprintf("%T", s.Rack.Servers[0].Cards[0].NIC) == "*device.rtl")
		s.Start()
	}
	return err
}

// path opens a path of the server.
func (s *server) path(c hostnet.PathConfig) (hostnet.Path, error) {
	p, err := s.s.Open(c)
	if s.seen == nil || err != nil {
		return p, err
	}
	return &look{p, s.seen, c}, nil
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
		s.arm = core.Core
	}
	var err error
	s.s, err = path.New(cfg)
	return err
}

// finish waits for all answers and checks that the lost packets are those that the NIC dropped, and that the rest
// arrived once. It returns the manager's counters.
func (s *server) finish() manager.Stats {
	s.Helper()
	require.NoError(s, s.Settle())
	drops, err := s.ReadDrops()
	require.NoError(s, err)
	lost := uint64(0)
	for i := range s.kinds {
		a, b := s.Nodes[0].FlowStats(i), s.Nodes[1].FlowStats(i)
		require.Equal(s, b.Client.Requests, b.Client.Answers)
		require.NotZero(s, b.Client.Answers+a.Taken)
		require.Zero(s, a.Broken+b.Broken)
		lost += b.Client.Packets + b.Sent - a.Server.Packets - a.Server.ReceiverStats.Again - a.Taken
	}
	require.Equal(s, drops[0].Buffer+drops[0].Descriptor, lost, "the sender repairs what the NIC dropped")
	s.lost = lost
	require.Zero(s, drops[0].TooLong)
	require.NoError(s, s.s.Manager().Err())
	require.NoError(s, s.s.Manager().Credits().Check())
	require.NoError(s, s.Close())
	stats := s.s.Manager().Stats()
	s.Logf("%d lost, %+v, %+v", lost, stats, s.s.Stats())
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

// TestLateController plays a controller on the card that polls rarely, whose overshoot is larger, and one whose core
// stops in the middle of a burst, finds no flow exhausted meanwhile, and goes on later. With either, everything arrives
// in order.
func TestLateController(t *testing.T) {
	const begin, stopped = 100 * simcore.Microsecond, 200 * simcore.Microsecond
	play := func(period path.Ps, stop bool) (after manager.Stats, exhausted uint64) {
		s := newServer(t, 4)
		s.spec.Controller, s.spec.ArmPeriod = manager.ControlArm, quantity.Time(period)
		s.node.ReceiveCycles = 2000
		require.NoError(t, s.open())
		require.NoError(t, s.RunFor(begin))
		require.Less(t, s.Nodes[1].FlowStats(0).Client.Answers, uint64(1000), "in the middle of the burst")
		before := s.s.Manager().Stats().Exhausted
		if stop {
			s.arm.Call(func() { s.arm.Spend(stopped) })
		}
		require.NoError(t, s.RunFor(stopped))
		exhausted = s.s.Manager().Stats().Exhausted - before
		return s.finish(), exhausted
	}
	prompt, often := play(1e6, false)
	late, _ := play(40e6, false)
	require.Greater(t, late.Overshoot, prompt.Overshoot)
	require.Greater(t, late.Overshoot*prompt.Exhausted, prompt.Overshoot*late.Exhausted,
		"each time that a flow runs dry")
	_, seldom := play(1e6, true)
	require.Greater(t, often, 2*seldom)
}

// TestSharedRing has more connections than accounts: connections without an account share a slow ring on one core.
func TestSharedRing(t *testing.T) {
	s := newServer(t, 5)
	s.spec.Flows, s.cores, s.strays = 2, 1, 100
	require.NoError(t, s.open())
	got := s.finish()
	require.GreaterOrEqual(t, got.Slow, uint64(3*1500))
	require.Contains(t, []uint64{100, 101}, s.s.Stats().Strangers, "and the client's announcement, if it came late")

	s = newServer(t, 4)
	s.spec.Flows = 2
	require.ErrorContains(t, s.open(),
		"ceio: flow 3: flows beyond the accounts share a ring: want all of them on one core")
	s = newServer(t, 3)
	s.spec.Flows, s.spec.Accounts = 2, manager.AccountsExclusive
	require.ErrorContains(t, s.open(),
		"ceio: flow 2: ceio: connection 2: want 0 to 1 with accounts exclusive, or accounts shared")
}

// TestRTLServer plays the server's NIC in RTL.
func TestRTLServer(t *testing.T) {
	s := newServer(t, 2)
	s.nic = nics.RTL
	for i := range s.kinds {
		s.kinds[i] = echo{bytes: echoBytes, load: apps.Load{Requests: 300}}
	}
	s.spec.Credits, s.node.ReceiveCycles = 32, 2000
	require.NoError(t, s.open())
	require.NotZero(t, s.finish().Exhausted)
}

// TestSameTwice checks that a second run takes the same simulated time and gives the same statistics.
func TestSameTwice(t *testing.T) {
	play := func() (manager.Stats, simcore.Ps) {
		s := newServer(t, 3)
		s.spec.Controller = manager.ControlArm
		require.NoError(t, s.open())
		stats := s.finish()
		return stats, s.Engine.Now()
	}
	stats, at := play()
	again, then := play()
	require.Equal(t, stats, again)
	require.Equal(t, at, then)
}

func TestSpecErrors(t *testing.T) {
	_, err := path.New(path.Config{Spec: path.Spec{PacketCycles: -1, Spec: manager.Spec{Lend: true,
		Controller: manager.ControlArm}}})
	for _, want := range []string{"flows 0: want 1 to 64", "packet_cycles -1: want 0 to 1048576",
		"arm_period 0ps: want 1ps to 2305843.009213693951s",
		"lend true: want false: the applications of a node lend no buffers",
		"period of the NIC's clock 0: want 1 ps or more", "controller arm: want a core of the card"} {
		require.ErrorContains(t, err, want)
	}
}
