package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host/dsa"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/apps/kind"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// duo is a server and a client, whose flows are added one by one.
type duo struct {
	testing.TB
	rack    board.RackSpec
	server  hostbed.Machine
	client  hostbed.Machine
	factory board.Factory
	opens   []func(c *board.Card) // run when the server is opened
	v6      bool
	*hostbed.Bed
}

func newDuo(t testing.TB) *duo {
	return &duo{TB: t, rack: pair(t), factory: model(), server: hostbed.Machine{Spec: hostnet.DefaultSpec()},
		client: hostbed.Machine{Spec: hostnet.DefaultSpec()}}
}

// open builds the bed and lets the clients begin.
func (d *duo) open() {
	var err error
	d.Bed, err = hostbed.New(hostbed.Config{Rack: d.rack, Factory: d.factory,
		Machines: []hostbed.Machine{d.server, d.client},
		Open: func(machine int, c *board.Card, _ *hostnet.Config) error {
			if machine == 0 {
				for _, f := range d.opens {
					f(c)
				}
			}
			return nil
		}})
	require.NoError(d, err)
	d.Start()
}

// finish waits until nothing is in flight, and checks that every packet of each flow arrived once, was repaired, or was
// counted by the NIC that dropped it. It returns the packets dropped by the server's NIC.
func (d *duo) finish() uint64 {
	require.NoError(d, d.Settle())
	drops, err := d.ReadDrops()
	require.NoError(d, err)
	lost := uint64(0)
	for i := range d.Nodes[0].Flows() {
		s, c := d.Nodes[0].FlowStats(i), d.Nodes[1].FlowStats(i)
		require.Zero(d, s.Broken+c.Broken)
		arrived := s.Server.Packets + s.Server.ReceiverStats.Again + s.Taken
		lost += c.Client.Packets + c.Sent - arrived
		require.Equal(d, c.Client.Requests, c.Client.Answers)
	}
	dropped := drops[0].Buffer + drops[0].Descriptor
	require.Equal(d, dropped, lost, "%+v", drops[0])
	require.Zero(d, drops[0].TooLong)
	require.NoError(d, d.Close())
	return dropped
}

// add adds a flow; ends and rpc are set here.
func (d *duo) add(core int, r rpc.Spec, server, client hostnet.FlowConfig) {
	port := uint16(7000 + len(d.server.Flows))
	server.Core, server.RPC, server.Ends = core, r, hostbed.Ends(0, 1, port, port, d.v6)
	client.Core, client.RPC, client.Ends = core, r, hostbed.Ends(1, 0, port, port, d.v6)
	d.server.Flows, d.client.Flows = append(d.server.Flows, server), append(d.client.Flows, client)
}

// kv adds a flow of a key-value store.
func (d *duo) kv(core int, s apps.KVSpec, l apps.Load) (*apps.KVServer, *apps.KVClient) {
	const outstanding = 64
	seed := uint64(100 + len(d.server.Flows))
	server, err := apps.NewKVServer(seed, s)
	require.NoError(d, err)
	client, err := apps.NewKVClient(seed, s, outstanding, l)
	require.NoError(d, err)
	_, put := s.RequestBytes()
	d.add(core, rpc.DefaultSpec(put), hostnet.FlowConfig{Server: server, AnswerBytes: s.AnswerBytes()},
		hostnet.FlowConfig{Client: client, Outstanding: outstanding})
	return server, client
}

// chunks adds a flow of chunks.
func (d *duo) chunks(core int, s apps.ChunkSpec, engine, copies bool, l apps.Load) *apps.ChunkServer {
	s.Copy = copies
	c := apps.ChunkServerConfig{Seed: uint64(len(d.server.Flows)), Spec: s,
		Peek: func(addr uint64, b []byte) error { return d.Rack.Servers[0].Cards[0].Memory.Read(addr, b) }}
	if engine {
		c.Engine = portal{d}
	}
	server, err := apps.NewChunkServer(c)
	require.NoError(d, err)
	client, err := apps.NewChunkClient(c.Seed, s, l)
	require.NoError(d, err)
	headers := hostbed.Ends(0, 1, 1, 1, d.v6)
	d.add(core, rpc.DefaultSpec(s.Segment), hostnet.FlowConfig{Server: server, AnswerBytes: apps.ChunkAnswerBytes,
		Buffers: hostnet.Buffers{Bytes: s.Segment, Split: headers.HeaderBytes() + rpc.DataBytes, HeaderBytes: 128}},
		hostnet.FlowConfig{Client: client, Outstanding: s.Outstanding})
	return server
}

// engine gives the server a copy engine, and returns what may be changed of it.
func (d *duo) engine() *dsa.Spec {
	spec, err := dsa.Preset("host-fn")
	require.NoError(d, err)
	d.rack.Servers[0].Cards[0].Switch.Host.Host.DSA = &spec
	return &spec
}

// portal is the server's copy engine, which is built after the applications.
type portal struct{ *duo }

func (p portal) engine() *dsa.Portal {
	return p.Rack.Servers[0].Cards[0].Memory.Host(nicspec.EndpointHost).DSA[0].Portal()
}

func (p portal) Write(off uint32, b []byte) error { return p.engine().Write(off, b) }

func (p portal) Read(off uint32, n int, done func(uint64, error)) error {
	return p.engine().Read(off, n, done)
}

func TestKV(t *testing.T) {
	for _, s := range []apps.KVSpec{apps.DefaultKV(), {Pairs: 3, Gets: 1, Puts: 3}, {Pairs: 100, Gets: 3, Puts: 1},
		{Pairs: 50, Key: 8, Value: 4, Gets: 1, Puts: 1}, {Pairs: 50, Key: 61, Value: 1300, Gets: 1, Puts: 2}} {
		d := newDuo(t)
		server, client := d.kv(0, s, apps.Load{Requests: 3000})
		d.open()
		require.Zero(t, d.finish())
		got := client.Stats()
		require.EqualValues(t, 3000, got.Gets+got.Puts)
		require.InDelta(t, 3000*s.Puts/(s.Gets+s.Puts), got.Puts, 200)
		require.GreaterOrEqual(t, server.Probes(), uint64(3000))
		t.Logf("%+v: %+v, %d probes", s, got, server.Probes())
	}
}

func chunkSpec() apps.ChunkSpec {
	return apps.ChunkSpec{ChunkSpec: kind.DefaultChunks(), ChunkBytes: 100_000, Outstanding: 4}
}

// TestChunks checks that packets without loss land one behind another, so that copies are as long as RunBytes allows.
func TestChunks(t *testing.T) {
	for name, x := range map[string]struct{ engine, copies bool }{
		"placed": {}, "core": {copies: true}, "engine": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDuo(t)
			if x.engine {
				d.engine()
			}
			s := d.chunks(0, chunkSpec(), x.engine, x.copies, apps.Load{Requests: 50})
			d.open()
			require.Zero(t, d.finish())
			got := s.Stats()
			t.Logf("%+v", got)
			require.EqualValues(t, 50, got.Chunks)
			require.EqualValues(t, 50*100_000, got.Bytes)
			if x.copies { // 72 packets a chunk, 5 of them in a run, and a run ends where the buffers wrap around
				require.LessOrEqual(t, got.Runs, uint64(50*15+50*72>>10))
			}
		})
	}
}

// TestChunksAhead checks that a server with so many whole chunks takes no further packets, except over a ring that
// others wait behind, more than half of whose buffers it may hold.
func TestChunksAhead(t *testing.T) {
	const depth, requests = 4, 20
	whole := func(ahead int, shared, engine bool) int {
		d := newDuo(t)
		s := chunkSpec()
		s.Outstanding, s.Ahead, s.LineCycles = depth, ahead, 500 // slower than packets come
		if engine {
			s.LineCycles = 0
			spec := d.engine()
			spec.Latency, spec.Engines = 5*simcore.Microsecond, 1
		}
		server := d.chunks(0, s, engine, true, apps.Load{Requests: requests})
		if shared {
			d.share(512)
		}
		d.open()
		require.Zero(t, d.finish())
		require.EqualValues(t, requests, server.Stats().Chunks)
		return server.Stats().Whole
	}
	for ahead, want := range []int{depth, 1, 2} {
		require.Equal(t, want, whole(ahead, false, false), "ahead %d", ahead)
		require.Equal(t, want, whole(ahead, false, true), "by the engine, ahead %d", ahead)
	}
	require.Equal(t, depth, whole(1, true, false))
}

func TestVXLAN(t *testing.T) {
	d := newDuo(t)
	var sinks []*apps.VXLANSink
	for i := range uint16(2) { // one destination port: rules look at the source port
		sink := apps.NewVXLANSink(5, apps.Wire{})
		source, err := apps.NewVXLANSource(5, apps.Load{Requests: 2000, EveryPs: 200_000})
		require.NoError(t, err)
		d.server.Flows = append(d.server.Flows, hostnet.FlowConfig{Core: int(i), MatchSource: true, Sink: sink,
			Ends: hostbed.Ends(0, 1, apps.VXLANPort, 50_000+i, false)})
		d.client.Flows = append(d.client.Flows, hostnet.FlowConfig{Core: int(i), MatchSource: true, Source: source,
			Ends: hostbed.Ends(1, 0, 50_000+i, apps.VXLANPort, false)})
		sinks = append(sinks, sink)
	}
	d.open()
	require.Zero(t, d.finish())
	for _, s := range sinks {
		require.Equal(t, []uint64{400, 400, 400, 400, 400}, s.Networks())
		require.Zero(t, s.Stats().Missing)
	}
}
