package flexins

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/stack/cc"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
	"nictwin/stack/verbs/verbstest"
)

func nodeMAC(i int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(i + 1)} }

func nodeGID(i int) (g [16]byte) {
	copy(g[10:], []byte{0xff, 0xff, 10, 0, 0, byte(i + 1)})
	return g
}

// newNode puts FlexiNS on a card of a rack with cores.
func newNode(t testing.TB, c *board.Card, i int, s node.Spec, engine bool) *node.Node {
	bus := func(endpoint, core int, regs cpu.Registers) *corebus.Bus {
		x, err := c.Memory.Host(endpoint).Core(0, core)
		require.NoError(t, err)
		b, err := corebus.New(x.Core, regs, corebus.DefaultSpec())
		require.NoError(t, err)
		return b
	}
	arm := c.Root.MMIO(nicspec.RequesterArm)
	o := driver.DefaultOptions()
	first := node.HostCore{Bus: bus(nicspec.EndpointHost, 0, c.Host.MMIO(nicspec.RequesterHost))}
	if c.HostMMIO != nil {
		first.Window = bus(nicspec.EndpointHost, 0, c.HostMMIO)
	}
	cfg := node.Config{Spec: s, Build: stackedBuild(), Limits: board.DefaultEndpoint().Limits, Memory: o.Memory,
		Control: bus(nicspec.EndpointArm, 15, arm), Hosts: []node.HostCore{first}}
	cfg.Memory[nicspec.EndpointHost].Bytes = 128 << 20
	for k := range s.DataCores {
		cfg.Data = append(cfg.Data, bus(nicspec.EndpointArm, k, arm))
	}
	for p := range 2 {
		cfg.Ports = append(cfg.Ports, node.Port{MAC: nodeMAC(i + 10*p), GID: nodeGID(i + 10*p)})
	}
	if engine {
		cfg.Engines = []*corebus.Bus{bus(nicspec.EndpointArm, 14, arm)}
	}
	n, err := node.New(cfg)
	require.NoError(t, err)
	return n
}

// newNodes puts FlexiNS and a referee on both cards of a pair, and returns them as a bench of package verbstest.
func newNodes(t *testing.T, s node.Spec) (*verbstest.Bench, *simcore.Engine) {
	b, _, e := newNodesWith(t, s, false)
	return b, e
}

// newNodesWith is newNodes, with a core for the offload engine if engine is set.
func newNodesWith(t *testing.T, s node.Spec, engine bool) (*verbstest.Bench, []*node.Node, *simcore.Engine) {
	b, nodes, e, _ := newNodesOn(t, s, engine, func(*board.RackSpec) {})
	return b, nodes, e
}

// newNodesOn does what newNodesWith does, on a rack whose spec function change has modified.
func newNodesOn(t *testing.T, s node.Spec, engine bool, change func(*board.RackSpec)) (*verbstest.Bench, []*node.Node,
	*simcore.Engine, *board.Rack) {
	r, err := board.RackPreset("bf3-cores-pair")
	require.NoError(t, err)
	change(&r)
	e, over := simcore.NewEngine(), false
	rack, err := board.NewRack(e, new(board.Pools), r, device.Slots(device.Spec{NIC: device.Model}, nil))
	require.NoError(t, err)
	b := &verbstest.Bench{}
	var nodes []*node.Node
	var judges []*judge.Judge
	for i, c := range rack.Cards() {
		j, err := judge.Attach(c.NIC, judge.Options{Name: c.Name, Build: stackedBuild()})
		require.NoError(t, err)
		judges = append(judges, j)
		require.NoError(t, c.NIC.Begin(func() bool { return over }))
		n := newNode(t, c, i, s, engine)
		nodes = append(nodes, n)
		b.Sides[i] = verbstest.Side{
			Context: n.Context(0), Memory: c.Memory, Base: mem.Bus(nicspec.EndpointHost, 256<<20), Bytes: 8 << 20,
			Port: 1,
			Peer: verbs.AHAttr{Port: 1, GID: nodeGID(1 - i), MAC: nodeMAC(1 - i), HopLimit: 64},
		}
	}
	b.Settle = func() error {
		if err := runQuiet(e, nodes, s.Notify == node.DoorbellPolled); err != nil {
			return err
		}
		for _, n := range nodes {
			if err := n.Err(); err != nil {
				return err
			}
		}
		return rack.Err()
	}
	require.NoError(t, b.Settle())
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		counted := 0
		for _, n := range nodes {
			n.Close()
		}
		require.NoError(t, e.Run())
		for _, n := range nodes {
			n.Driver().ReadCounters(func(driver.Counters) { counted++ })
		}
		require.NoError(t, e.Run())
		require.Equal(t, len(nodes), counted)
		over = true
		require.NoError(t, e.Run())
		for i, c := range rack.Cards() {
			st, kind := nodes[i].Stats(), s.Notify
			require.Equal(t, kind == node.DoorbellPolled, st.Records > 0)
			require.True(t, st.Fetches == 0 || kind == node.DoorbellPolled || kind == node.DoorbellPushed)
			require.Equal(t, st.Elements > 0 && (kind == node.DoorbellPolled || kind == node.DoorbellPushed),
				st.Fetches > 0)
			require.Equal(t, st.Elements > 0 && kind == node.MMIO, c.HostMMIO.Stats().Delivered > 0)
		}
		for i, j := range judges {
			require.True(t, nodes[i].Ready() && nodes[i].Idle())
			rep := j.Finish(judge.Whole)
			require.True(t, rep.Passed(), "%v", rep)
		}
		require.NoError(t, rack.Close())
	})
	return b, nodes, e, rack
}

// runQuiet runs until no events are left. Cores that poll records by DMA never stop: then it runs until nothing else
// happens.
func runQuiet(e *simcore.Engine, nodes []*node.Node, polled bool) error {
	if !polled {
		return e.Run()
	}
	const window, longEnough, most = 20 * simcore.Microsecond, 5, 1 << 16
	var before, now [2]data.Stats
	for quiet, k := 0, 0; quiet < longEnough; k++ {
		if k == most {
			return fmt.Errorf("still active after %d windows of %d ps", most, window)
		}
		if err := e.RunUntil(e.Now() + window); err != nil {
			return err
		}
		timers := 0
		for i, n := range nodes {
			now[i] = n.Stats()
			now[i].Copied, now[i].Records = 0, 0
			timers += n.Timers()
		}
		if quiet++; now != before || timers > 0 {
			quiet = 0
		}
		before = now
	}
	return nil
}

// TestFlexinsVerbs checks that FlexiNS on the Arm cores of two boards passes the tests of the verbs interface, without
// a mismatch at any referee.
func TestFlexinsVerbs(t *testing.T) {
	for name, change := range map[string]func(*node.Spec){
		"flexins":          func(*node.Spec) {},
		"selective_repeat": func(s *node.Spec) { s.Data.Recovery = transport.SelectiveRepeat },
		"naive":            func(s *node.Spec) { s.Data.Receive = data.Naive },
		"dma_staged":       func(s *node.Spec) { s.Data.Transmit, s.Data.StagingInvalidate = data.DMAStaged, true },
		"doorbell_pushed":  func(s *node.Spec) { s.Notify = node.DoorbellPushed },
		"doorbell_polled": func(s *node.Spec) {
			s.Notify, s.Data.RecordPoll = node.DoorbellPolled,
				10*simcore.Microsecond
		},
		"mmio":        func(s *node.Spec) { s.Notify = node.MMIO },
		"fixed_rate":  func(s *node.Spec) { s.Data.CC.Kind, s.Data.CC.Rate = data.CongestionFixed, 5*cc.Gbps },
		"dcqcn":       func(s *node.Spec) { s.Data.CC.Kind = data.DCQCN },
		"dctcp":       func(s *node.Spec) { s.Data.CC.Kind = data.DCTCP },
		"low_latency": func(s *node.Spec) { s.LowLatency = 4 },
		"spray":       func(s *node.Spec) { s.Data.Recovery, s.Data.Spray = transport.SelectiveRepeat, true },
	} {
		s := node.DefaultSpec()
		s.DataCores = 3
		change(&s)
		verbstest.RunContract(t, name, func(t *testing.T) *verbstest.Bench {
			b, _ := newNodes(t, s)
			return b
		})
	}
}
