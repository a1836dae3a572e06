package hostnet

import (
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/hostnet"
	hostapps "nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// Config configures a Net.
type Config struct {
	Workloads workload.List
	Stacks    []*Stack // by server
	Rack      *board.Rack
	Specs     []board.ServerSpec // servers of the rack
	V6        bool
	Lossy     bool // datagrams may be lost: which ones depends on timing
	Cables    Cables
	Now       func() Ps
}

// Cables says whether the cables copy frames or change their order on purpose.
type Cables struct {
	Doubles  bool
	Reorders bool
}

// CablesOf returns the faults of a network's cables for frames that are not RoCE.
func CablesOf(n *board.NetworkSpec) (c Cables) {
	if f := n.Faults; f != nil {
		c = Cables{Doubles: f.StrikesOthers(inject.WireDuplication), Reorders: f.StrikesOthers(inject.WireDisorder)}
	}
	return c
}

// Net is the flows of all workloads, with their stacks.
type Net struct {
	cfg   Config
	lines []*line
	runs  []*Run
	nodes []*Node // by server
}

// New returns the flows of all workloads. Their stacks are opened by Open.
func New(c Config) *Net {
	n := &Net{cfg: c, nodes: make([]*Node, len(c.Stacks))}
	for i, w := range c.Workloads {
		n.runs = append(n.runs, &Run{net: n, spec: w, name: c.Workloads.Label(i)})
	}
	next := make([]int, len(c.Stacks)) // by server
	for _, f := range flowsOf(c.Workloads) {
		l := &line{flow: &f, run: n.runs[f.workload], total: f.spec.Count, taken: make([]bool, f.spec.Count)}
		for i, server := range f.ends {
			l.at[i] = next[server]
			next[server]++
		}
		n.lines, l.run.lines = append(n.lines, l), append(l.run.lines, l)
	}
	return n
}

// Run returns the part of a workload.
func (n *Net) Run(workload int) *Run { return n.runs[workload] }

// flowsAt returns the configurations of a server's flows.
func (n *Net) flowsAt(server int) (list []hostnet.FlowConfig, err error) {
	x, cores := n.cfg.Stacks[server], coresOf(&n.cfg.Specs[server].Cards[0])
	for _, l := range n.lines {
		end := slices.Index(l.ends[:], server)
		if end < 0 {
			continue
		}
		var c hostnet.FlowConfig
		if end == 0 {
			err = n.asks(l, &c)
		} else {
			err = n.serves(l, x, &c)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name(l), err)
		}
		mine, peer := l.ports()
		if end == 1 {
			mine, peer = peer, mine
		}
		c.Ends = hostbed.Ends(server, l.ends[1-end], mine, peer, n.cfg.V6)
		c.Name = n.name(l)
		c.Core, c.MatchSource = x.coreOf(l.at[end], cores), l.spec.Kind == apps.VXLAN
		if l.spec.Kind != apps.VXLAN {
			c.RPC = rpcSpec(l)
		}
		list = append(list, c)
	}
	return list, nil
}

// rpcSpec returns the parameters of a flow: as many messages may be under way as its requests. Windows of DCTCP grow by
// one of its packets, however short they are, as Linux and eRPC count packets.
func rpcSpec(l *line) rpc.Spec {
	s := rpc.DefaultSpec(l.segment())
	s.Messages = max(s.Messages, l.spec.Depth)
	return s
}

// name returns the name of a flow for errors: its number in its workload, whose name is in front if there are several.
func (n *Net) name(l *line) string {
	name := fmt.Sprintf("flow %d", l.index)
	if label := n.cfg.Workloads.Label(l.workload); label != "" {
		name = fmt.Sprintf("workload %s, %s", label, name)
	}
	return name
}

// seed returns the seed of a flow's contents.
func (n *Net) seed(l *line) uint64 {
	const step = 0xd1b5_4a32_d192_ed03 // as the golden ratio, an odd number without a pattern
	return n.cfg.Workloads.Seeded(l.workload).Seed + uint64(l.index)*step
}

// asks adds the application of a client.
func (n *Net) asks(l *line, c *hostnet.FlowConfig) (err error) {
	load := hostapps.Load{Requests: uint32(l.spec.Count)}
	var client hostnet.Client
	switch l.spec.Kind {
	case apps.VXLAN:
		var s *hostapps.VXLANSource
		s, err = hostapps.NewVXLANSource(l.spec.VXLAN.Networks, load)
		c.Source = &sending{s, l}
		return err
	case apps.KV:
		client, err = hostapps.NewKVClient(n.seed(l), *l.kvSpec(), l.spec.Depth, load)
	case apps.Chunks:
		client, err = hostapps.NewChunkClient(n.seed(l), chunkSpec(l), load)
	default:
		var echo *hostapps.EchoClient
		if echo, err = hostapps.NewEchoClient(n.seed(l), l.spec.Sizes[0], load); err != nil {
			return err
		}
		echo.AnswerBytes = l.answerBytes()
		client = echo
	}
	c.Client, c.Outstanding = &asking{client, l}, l.spec.Depth
	return err
}

// serves adds the application of a server.
func (n *Net) serves(l *line, x *Stack, c *hostnet.FlowConfig) error {
	c.AnswerBytes = l.answerBytes()
	switch l.spec.Kind {
	case apps.VXLAN:
		l.sink = hostapps.NewVXLANSink(l.spec.VXLAN.Networks,
			hostapps.Wire{Doubles: n.cfg.Cables.Doubles, Reorders: n.cfg.Cables.Reorders})
		c.Sink = &taking{l.sink, l}
	case apps.KV:
		s, err := hostapps.NewKVServer(n.seed(l), *l.kvSpec())
		if err != nil {
			return err
		}
		l.table = s.Table
		c.Server = &serving{s, l}
	case apps.Chunks:
		return n.chunks(l, x, c)
	default:
		s := hostapps.NewEchoServer(n.seed(l), l.spec.Sizes[0])
		s.AnswerBytes = l.answerBytes()
		c.Server = &serving{s, l}
	}
	return nil
}

// chunks adds the server of a flow of chunks.
func (n *Net) chunks(l *line, x *Stack, c *hostnet.FlowConfig) error {
	memory := n.cfg.Rack.Servers[l.ends[1]].Cards[0].Memory
	s, err := hostapps.NewChunkServer(hostapps.ChunkServerConfig{Seed: n.seed(l), Spec: chunkSpec(l), Peek: memory.Read,
		OnChunk: func(number uint32) { l.took(int(number), l.spec.Sizes[0]) }})
	if err != nil {
		return err
	}
	if l.spec.Chunks.Copy {
		l.table = s.File
	}
	c.Server, c.ReceiveCycles = s, new(l.spec.Chunks.Cycles)
	if x.splits(l.flow, l.at[1]) {
		const header = 128
		split := ends(n.cfg.V6).HeaderBytes() + rpc.DataBytes
		c.Buffers = hostnet.Buffers{Bytes: max(l.segment(), nicspec.FrameMin-split), Split: split, HeaderBytes: header}
	}
	return nil
}

// kvSpec returns the store of a flow.
func (f *flow) kvSpec() *hostapps.KVSpec { return (*hostapps.KVSpec)(&f.spec.KV) }

// chunkSpec returns the chunks of a flow.
func chunkSpec(l *line) hostapps.ChunkSpec {
	s := hostapps.ChunkSpec{ChunkSpec: l.spec.Chunks, ChunkBytes: l.spec.Sizes[0], Outstanding: l.spec.Depth}
	s.Segment = l.segment()
	return s
}
