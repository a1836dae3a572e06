package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/baseline/hostcc"
	"nictwin/stack/baseline/hostcc/monitor"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
)

// controlCore runs the control loop of HostCC in these tests, and the first neighbour is the core behind it.
const controlCore = 8

// congested is a server with HostCC whose memory is slow and busy.
type congested struct {
	*duo
	hostcc     *hostcc.Server
	host       *host.Server
	neighbours []*host.Core
}

// congest builds a server whose memory has one channel, with cores beside the flows that read it without pause until a
// time.
func congest(t *testing.T, spec hostcc.Spec, neighbours int, until simcore.Ps) *congested {
	c := &congested{duo: newDuo(t)}
	h := c.rack.Servers[0].Cards[0].Switch.Host.Host
	h.DRAM.Channels = 1
	h.DRAM.Peak, h.DRAM.Mixed, h.DRAM.Write = h.DRAM.Peak/16, h.DRAM.Mixed/16, h.DRAM.Write/16
	h.LLC.SizeBytes, h.LLC.Index = 96<<10, core.Hashed
	open := func(card *board.Card) {
		var err error
		c.host = card.Memory.Host(nicspec.EndpointHost)
		core, err := c.host.Core(0, controlCore)
		require.NoError(t, err)
		bus, err := corebus.New(core.Core, card.Host.MMIO(nicspec.RequesterHost), corebus.HostSpec())
		require.NoError(t, err)
		c.hostcc, err = hostcc.New(hostcc.Config{Spec: spec, Bus: bus, Host: c.host, Build: nicspec.DefaultBuild(),
			IIO: card.Memory.IIO(nicspec.EndpointHost)})
		require.NoError(t, err)
		for i := range neighbours {
			n, err := c.host.Core(0, controlCore+1+i)
			require.NoError(t, err)
			c.neighbours = append(c.neighbours, n)
			at := mem.Bus(nicspec.EndpointHost, 200<<20+uint64(i)<<24)
			off := uint64(0)
			_, err = n.Add(cpu.LoopSpec{Name: "neighbour", Poll: 1}, func(k *cpu.Core) bool {
				if k.Now() > until {
					return false
				}
				off = (off + 1024) % (1 << 24)
				require.NoError(t, k.Load(at+off, make([]byte, 1024)))
				return true
			})
			require.NoError(t, err)
		}
	}
	c.opens = append(c.opens, open)
	return c
}

// serve makes all flows of the server use HostCC.
func (c *congested) serve() {
	for i := range c.server.Flows {
		c.server.Flows[i].Path = func(p hostnet.PathConfig) (hostnet.Path, error) { return c.hostcc.Open(p) }
	}
	c.open()
}

// TestHostCC checks that a host whose memory is busy marks packets, throttles the cores beside the flows and leaves
// those of the flows alone, and that it comes to rest, unthrottled.
func TestHostCC(t *testing.T) {
	for _, mark := range []hostcc.Mark{hostcc.MarkHeader, hostcc.MarkQueue} {
		t.Run(string(mark), func(t *testing.T) { playHostCC(t, mark) })
	}
}

func playHostCC(t *testing.T, mark hostcc.Mark) {
	spec := hostcc.DefaultSpec()
	spec.OccupancyLines, spec.ReducePs, spec.Mark = 20, 5e6, mark
	c := congest(t, spec, 6, 300*simcore.Microsecond)
	for core := range 4 {
		c.echo(core, 1500, apps.Load{Requests: 600})
	}
	c.serve()
	c.finish()
	got := c.hostcc.Stats()
	t.Logf("%+v", got)
	require.NotZero(t, got.Marked)
	require.NotZero(t, got.Raised)
	require.Equal(t, got.Raised, got.Lowered)
	require.Zero(t, c.hostcc.Level())
	marked := uint64(0)
	for i := range c.Nodes[0].Flows() {
		marked += uint64(c.Nodes[0].FlowStats(i).Server.Marked)
	}
	require.Equal(t, got.Marked, marked, "what was marked is echoed to the senders")
	for _, n := range c.neighbours {
		require.NotZero(t, n.Throttle.Stats().Delayed)
	}
	for core := range 4 {
		k, err := c.host.Core(0, core)
		require.NoError(t, err)
		require.Zero(t, k.Throttle.Stats().Delayed, "core %d", core)
	}
}

// TestHostCCThrottlesAll checks that the cores of the flows are throttled, too, if the options say so, and that nothing
// is marked with mark `none`.
func TestHostCCThrottlesAll(t *testing.T) {
	spec := hostcc.DefaultSpec()
	spec.OccupancyLines, spec.ReducePs, spec.Throttle, spec.Mark = 5, 5e6, monitor.ThrottleAll, hostcc.MarkNone
	c := congest(t, spec, 4, 200*simcore.Microsecond)
	c.echo(0, 1500, apps.Load{Requests: 1500})
	c.serve()
	c.finish()
	got := c.hostcc.Stats()
	t.Logf("%+v", got)
	require.NotZero(t, got.Raised)
	require.Zero(t, got.Marked)
	k, err := c.host.Core(0, 0)
	require.NoError(t, err)
	require.NotZero(t, k.Throttle.Stats().Delayed)
}

// TestHostCCAtEase checks that a host with ample memory neither marks nor throttles, that samples keep their period,
// and that IPv6 packets pass, too.
func TestHostCCAtEase(t *testing.T) {
	c := congest(t, hostcc.DefaultSpec(), 0, 0)
	c.rack = pair(t)
	c.v6 = true
	c.echo(0, 1000, apps.Load{Requests: 1000})
	c.kv(1, apps.DefaultKV(), apps.Load{Requests: 1000})
	c.serve()
	from := c.Engine.Now()
	require.Zero(t, c.finish())
	got := c.hostcc.Stats()
	t.Logf("%+v", got)
	require.Zero(t, got.Marked+got.Raised)
	took := uint64((c.Engine.Now() - from) / simcore.Microsecond)
	require.LessOrEqual(t, got.Samples, took)
	require.GreaterOrEqual(t, got.Samples, took/3, "the loop rests while the NICs' counters are read")
}

// TestHostCCBetweenPackets checks that rare packets, which leave most samples without one, do not count as the end of
// the traffic: the loop goes on sampling, and keeps the level while the link is below its target.
func TestHostCCBetweenPackets(t *testing.T) {
	const every, busy, requests = 5 * simcore.Microsecond, 100 * simcore.Microsecond, 200
	spec := hostcc.DefaultSpec()
	spec.OccupancyLines, spec.ReducePs = 20, 50e6
	c := congest(t, spec, 6, busy)
	for core := 1; core < 4; core++ {
		c.echo(core, 1500, apps.Load{Requests: 300})
	}
	answers := 0
	var end hostcc.Stats
	c.echo(0, 1500, apps.Load{Requests: requests, EveryPs: apps.Ps(every)}).OnAnswer = func(apps.Ps, apps.Ps) {
		if answers++; answers == requests {
			end = c.hostcc.Stats()
		}
	}
	c.serve()
	c.finish()
	got := c.hostcc.Stats()
	t.Logf("at the last answer %+v, at rest %+v", end, got)
	require.NotZero(t, end.Raised)
	require.Zero(t, end.Lowered)
	require.GreaterOrEqual(t, end.Samples, uint64(requests*every/simcore.Microsecond*4/5))
	require.Equal(t, got.Raised, got.Lowered)
}

// TestHostCCErrors checks that a flow on the core of the control loop is refused.
func TestHostCCErrors(t *testing.T) {
	_, err := hostcc.New(hostcc.Config{Spec: hostcc.DefaultSpec()})
	require.ErrorContains(t, err, "hostcc: want a core for the control loop, a host and its IIO buffer")
	c := congest(t, hostcc.DefaultSpec(), 0, 0)
	c.echo(controlCore, 100, apps.Load{Requests: 1})
	c.server.Flows[0].Path = func(p hostnet.PathConfig) (hostnet.Path, error) { return c.hostcc.Open(p) }
	_, err = hostbed.New(hostbed.Config{Rack: c.rack, Factory: c.factory,
		Machines: []hostbed.Machine{c.server, c.client}, Open: func(m int, k *board.Card, _ *hostnet.Config) error {
			if m == 0 {
				c.opens[0](k)
			}
			return nil
		}})
	require.ErrorContains(t, err, "hostcc: a flow on the core of the control loop: want it on another")
}
