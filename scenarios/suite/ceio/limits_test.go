package ceio

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// TestSmallRings has more credits than descriptors in fast rings: accounts get no more than these, so that the NIC
// drops nothing as long as the slow rings have room.
func TestSmallRings(t *testing.T) {
	s := newServer(t, 2)
	s.spec.Credits, s.node.LogReceive, s.node.ReceiveCycles = 3000, 5, 500
	require.NoError(t, s.open())
	got := s.finish()
	require.Zero(t, s.lost)
	require.Positive(t, got.Withheld)
	require.GreaterOrEqual(t, got.Exhausted, uint64(3))

	s = newServer(t, 2)
	s.spec.FastSlots = 4096
	require.ErrorContains(t, s.open(), "ceio: flow 0: 256 receive buffers (log_receive 8): want 4096, fast_slots or "+
		"those of the node's first flow")
}

// TestSharedRingIsCharged checks that the core of a shared ring pays for finding the flow of each packet, once, however
// many flows there are. Packets come one by one, so that the cost does not change how many of them a step finds.
func TestSharedRingIsCharged(t *testing.T) {
	const packets, flows, gap = 30, 4, 5e6 // gap: ps from one packet to the next
	busy := func(accounts int, cycles int64) (all simcore.Ps) {
		s := newServer(t, flows)
		for i := range s.kinds {
			s.kinds[i] = echo{echoBytes, apps.Load{Requests: packets, BeginPs: apps.Ps(i) * gap, EveryPs: flows * gap}}
		}
		s.cores, s.spec.Flows, s.spec.Credits, s.spec.PacketCycles = 1, accounts, 0, cycles
		require.NoError(t, s.open())
		core, err := s.Rack.Servers[0].Cards[0].Memory.Host(nicspec.EndpointHost).Core(0, 0)
		require.NoError(t, err)
		s.finish()
		return core.BusyTime() / core.Spec().Period
	}
	for _, accounts := range []int{1, flows} {
		const few, many = 0, 100 // cycles
		shared := packets * (flows - accounts)
		require.InEpsilon(t, packets*flows+shared, float64(busy(accounts, many)-busy(accounts, few))/(many-few), 0.05)
	}
}

// TestSoftwareRingSavesCycles checks that a core without a software ring pays for an entry of each packet: PacketCycles
// once more, a store and a load.
func TestSoftwareRingSavesCycles(t *testing.T) {
	const packets, gap = 100, 5e6 // gap: ps from one packet to the next
	busy := func(ring bool) simcore.Ps {
		s := newServer(t, 1)
		s.kinds[0] = echo{echoBytes, apps.Load{Requests: packets, EveryPs: gap}}
		s.spec.Credits, s.spec.PacketCycles, s.spec.SoftwareRing = 64, 200, ring
		require.NoError(t, s.open())
		core, err := s.Rack.Servers[0].Cards[0].Memory.Host(nicspec.EndpointHost).Core(0, 0)
		require.NoError(t, err)
		s.finish()
		return core.BusyTime() / core.Spec().Period / packets
	}
	more := busy(false) - busy(true)
	require.Greater(t, more, simcore.Ps(200))
	require.Less(t, more, simcore.Ps(300))
}

// TestManyCopies has more copies of a core's flows than a transmit queue of 256 entries holds.
func TestManyCopies(t *testing.T) {
	s := newServer(t, 30)
	for i := range s.kinds {
		s.kinds[i] = echo{echoBytes, apps.Load{Requests: 60}}
	}
	s.cores, s.spec.Credits, s.spec.Copies, s.spec.SlowSlots, s.spec.Landing = 1, 0, 12, 64, 64
	s.node.LogReceive, s.node.ReceiveCycles = 5, 100
	require.NoError(t, s.open())
	require.GreaterOrEqual(t, s.finish().Slow, uint64(30*60))

	s.spec.Copies = 1000
	require.ErrorContains(t, s.spec.Validate(), "copies 1000: want 1 to 528")
}

// keeper is a server that keeps all packets.
type keeper struct{}

func (keeper) Open(*hostnet.Flow) error             { return nil }
func (keeper) Take(*hostnet.Flow, *hostnet.Arrival) {}
func (keeper) Work(*hostnet.Flow) bool              { return false }
func (keeper) Idle() bool                           { return true }

func (k keeper) flow(s *server, i int) (a, b hostnet.FlowConfig) {
	client, err := apps.NewEchoClient(uint64(i), echoBytes, apps.Load{Requests: 200})
	require.NoError(s, err)
	r := rpc.DefaultSpec(echoBytes)
	r.Messages = 256
	a, b = hostnet.FlowConfig{RPC: r, Server: k}, hostnet.FlowConfig{RPC: r, Client: client, Outstanding: 256}
	s.ends(i, &a, &b)
	return a, b
}

// witness is an application that notes where fast packets land.
type witness struct {
	hostnet.Server
	at map[uint64]bool
}

func (w *witness) Take(f *hostnet.Flow, a *hostnet.Arrival) {
	if !a.Packet.Slow {
		w.at[a.Packet.Pay] = true
	}
	w.Server.Take(f, a)
}

// witnessed is a kind of flow with a witness.
type witnessed struct {
	flowKind
	at map[uint64]bool
}

func (k witnessed) flow(s *server, i int) (a, b hostnet.FlowConfig) {
	a, b = k.flowKind.flow(s, i)
	a.Server = &witness{a.Server, k.at}
	return a, b
}

// TestFewBuffers checks that a flow's fast packets land in as few buffers as it has credits, however long its ring is.
// With controller `arm`, that holds when the controller has found out how many packets come between two polls.
func TestFewBuffers(t *testing.T) {
	s := newServer(t, 1)
	at := map[uint64]bool{}
	s.kinds[0] = witnessed{echo{bytes: echoBytes, load: apps.Load{Requests: 3000}}, at}
	require.NoError(t, s.open())
	require.Greater(t, s.finish().Fast, uint64(256))
	require.NotEmpty(t, at)
	require.LessOrEqual(t, len(at), s.spec.Credits, "of 256 buffers")

	s = newServer(t, 1)
	s.spec.Controller = manager.ControlArm
	s.kinds[0] = witnessed{echo{echoBytes, apps.Load{Requests: 3000, EveryPs: 1e6}}, at}
	require.NoError(t, s.open())
	require.NoError(t, s.RunFor(2500*simcore.Microsecond))
	clear(at)
	s.finish()
	require.NotEmpty(t, at)
	require.LessOrEqual(t, len(at), s.spec.Credits, "of 256 buffers")
}

// TestKeptPackets has an application that keeps all landing buffers: that is an error in time, not a wait for ever.
// Chunks that need more buffers are refused at once.
func TestKeptPackets(t *testing.T) {
	s := newServer(t, 1)
	s.kinds[0] = keeper{}
	s.spec.Credits, s.spec.Landing, s.spec.WaitLimit = 16, 64, 2_000_000_000
	require.NoError(t, s.open())
	require.ErrorContains(t, s.Settle(), "ceio: flow 0: the application has held all 64 landing buffers for 2000")
	require.NoError(t, s.Rack.Close())

	s = newServer(t, 1)
	s.kinds[0] = chunks{spec: chunkSpec(), load: apps.Load{Requests: 1}}
	s.node.LogReceive = 10
	require.ErrorContains(t, s.open(), "chunks: 144 packets of 2 chunks wait in receive buffers: want 128 at most")
}

var _ hostnet.Server = keeper{}

// TestReceiveAtOnce waits for whole bursts, which are of no more packets than the landing buffers have room for.
func TestReceiveAtOnce(t *testing.T) {
	s := newServer(t, 2)
	s.spec.Async, s.spec.Credits, s.spec.Landing, s.spec.SlowSlots = false, 0, 16, 64
	s.node.ReceiveCycles = 2000
	require.NoError(t, s.open())
	require.NotZero(t, s.finish().Slow)
}
