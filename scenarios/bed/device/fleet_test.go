package device

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
)

// node is a card with an rnic and its verbs driver.
type node struct {
	t    *testing.T
	card *board.Card
	dev  *rnicverbs.Device
	cq   *rnicverbs.CQ
	n    byte
}

const regionKey = 5 // key of the region in Arm memory; host memory has regionKey+1

func newNode(t *testing.T, e *simcore.Engine, c *board.Card, bus driver.Bus, endpoint int, n byte) *node {
	x := &node{t: t, card: c, n: n}
	const from, bytes, cqLog = 1 << 20, 4 << 20, 6
	var err error
	x.dev, err = rnicverbs.Open(bus, driver.NewArena(mem.Bus(endpoint, from), bytes))
	require.NoError(t, err)
	require.NoError(t, e.Run())
	x.dev.SetPort(rnicspec.SetPort{MAC: nodeMAC(n), IP: nodeIP(n)})
	for ep := range nicspec.EndpointHost + 1 {
		at := mem.Bus(ep, 0)
		x.dev.RegMR(rnicspec.CreateMR{Key: regionKey + uint32(ep), Access: rnicspec.AllAccess, PageLog: 21, VA: at,
			Bus: at, Bytes: 1 << 30})
	}
	x.cq, err = x.dev.NewCQ(cqLog)
	require.NoError(t, err)
	return x
}

func nodeMAC(n byte) [6]byte { return [6]byte{2, 0, 0, 0, 0, n} }
func nodeIP(n byte) [16]byte { return [16]byte{10, 0, 0, n} }

func (x *node) qp() *rnicverbs.QP {
	q, err := x.dev.NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: 4, RecvLog: 4, Send: x.cq, Recv: x.cq})
	require.NoError(x.t, err)
	return q
}

func (x *node) connect(q, peer *rnicverbs.QP, to *node) {
	h := x.dev.NewAH(rnicspec.CreateAH{MAC: nodeMAC(to.n), IP: nodeIP(to.n), TTL: 64})
	q.Connect(rnicspec.ModifyQP{
		State: rnicspec.RTS, DestQP: peer.Num(), Handle: h, PMTU: 1024, Access: rnicspec.AllAccess, MaxRead: 16,
		MinRNR:  1,
		Retries: 7, RNRRetry: 7, Timeout: 14,
	})
}

// fromHost returns the bus of software on a host whose cores are not simulated.
func fromHost(c *board.Card) driver.Bus {
	return rootbus.Bus{Regs: c.Host.MMIO(nicspec.RequesterHost), Memory: c.Memory}
}

func newRack(t *testing.T, e *simcore.Engine, s board.RackSpec) *board.Rack {
	r, err := board.NewRack(e, new(board.Pools), s, Slots(Spec{NIC: Model}, nil))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// TestFleet runs the requester fleet of the off-path study: eleven client machines on a switch WRITE at once into the
// memories of the server's host and Arm. It checks every byte, and that a second run takes the same time.
func TestFleet(t *testing.T) {
	for _, preset := range []string{"bf2-fleet", "connectx6-fleet"} {
		t.Run(preset, func(t *testing.T) {
			first, again := playFleet(t, preset), playFleet(t, preset)
			require.Equal(t, first, again)
		})
	}
}

func playFleet(t *testing.T, preset string) simcore.Ps {
	s, err := board.RackPreset(preset)
	require.NoError(t, err)
	e := simcore.NewEngine()
	r := newRack(t, e, s)
	cards := r.Cards()
	require.Len(t, cards, 12)
	var nodes []*node
	for i, c := range cards {
		nodes = append(nodes, newNode(t, e, c, fromHost(c), nicspec.EndpointHost, byte(i+1)))
	}
	server := nodes[0]
	endpoints := []int{nicspec.EndpointHost, nicspec.EndpointArm}
	if cards[0].Switch == nil {
		endpoints = endpoints[:1]
	}
	const bytes, each = 3000, 4
	qps := map[*node]*rnicverbs.QP{}
	for _, x := range nodes[1:] {
		mine, theirs := x.qp(), server.qp()
		require.NoError(t, e.Run())
		x.connect(mine, theirs, server)
		server.connect(theirs, mine, x)
		qps[x] = mine
	}
	require.NoError(t, e.Run())
	place := func(i, k int) uint64 {
		return mem.Bus(endpoints[(i+k)%len(endpoints)], 64<<20+uint64(i*each+k)<<12)
	}
	for i, x := range nodes[1:] {
		local := mem.Bus(nicspec.EndpointHost, 32<<20)
		for k := range each {
			require.NoError(t, x.card.Memory.Write(local+uint64(k)<<12, nictest.Pattern(bytes, uint64(100*i+k))))
			to := place(i, k)
			ep, _ := mem.Split(to)
			require.NoError(t, qps[x].Post(&rnicspec.WQE{
				Opcode: rnicspec.Write, ID: uint64(k), Flags: rnicspec.FlagSignalled, Length: bytes,
				LocalVA: local + uint64(k)<<12, LocalKey: regionKey + nicspec.EndpointHost, RemoteVA: to,
				RemoteKey: regionKey + uint32(ep),
			}))
		}
		require.NoError(t, qps[x].Ring())
	}
	require.NoError(t, e.Run())
	for i, x := range nodes[1:] {
		ids := []uint64{}
		require.NoError(t, x.cq.Poll(func(c *rnicspec.CQE) {
			require.Equal(t, rnicspec.OK, c.Status)
			ids = append(ids, c.ID)
		}, func(int) {}))
		require.Equal(t, []uint64{0, 1, 2, 3}, ids)
		for k := range each {
			got := make([]byte, bytes)
			require.NoError(t, cards[0].Memory.Read(place(i, k), got))
			require.Equal(t, nictest.Pattern(bytes, uint64(100*i+k)), got, "client %d, WRITE %d", i, k)
		}
		require.NoError(t, x.dev.Err())
	}
	require.NoError(t, r.Err())
	var in, out uint64
	for p := range r.Switch.Spec().Ports {
		c := r.Switch.Counters(p)
		in, out = in+c.In.Bytes+c.Made.Bytes, out+c.Out.Bytes
	}
	require.Equal(t, in, out+r.Switch.Dropped(core.None).Bytes,
		"every byte that came into the switch left it or is accounted for")
	require.Greater(t, r.Switch.Counters(0).Out.Bytes, uint64(11*each*bytes), "all of it came by the server's port")
	return e.Now()
}

// onCore returns a core of a machine, and the bus of software on it, which accesses registers through root rc.
func onCore(t *testing.T, c *board.Card, endpoint, number int, rc *root.Root, requester uint16) (driver.Bus,
	*cpu.Core) {
	x, err := c.Memory.Host(endpoint).Core(0, number)
	require.NoError(t, err)
	b, err := corebus.New(x.Core, rc.MMIO(requester), corebus.DefaultSpec())
	require.NoError(t, err)
	return b, x.Core
}

// TestVerbsOnHostCores runs verbs on host cores of two plain-NIC servers. One posts WRITEs and polls for their
// completions, while its core sleeps without events in between. The bytes go through IIO and last-level cache, and a
// core of the other server reads them.
func TestVerbsOnHostCores(t *testing.T) {
	s, err := board.RackPreset("connectx6-cores-pair")
	require.NoError(t, err)
	e := simcore.NewEngine()
	r := newRack(t, e, s)
	var nodes [2]*node
	var cores [2]*cpu.Core
	for i, c := range r.Cards() {
		bus, x := onCore(t, c, nicspec.EndpointHost, 2, c.Root, nicspec.RequesterHost)
		cores[i] = x
		nodes[i] = newNode(t, e, c, bus, nicspec.EndpointHost, byte(i+1))
	}
	mine, theirs := nodes[0].qp(), nodes[1].qp()
	require.NoError(t, e.Run())
	nodes[0].connect(mine, theirs, nodes[1])
	nodes[1].connect(theirs, mine, nodes[0])
	require.NoError(t, e.Run())

	const bytes, each, rounds = 2500, 8, 5
	from, to := mem.Bus(nicspec.EndpointHost, 32<<20), mem.Bus(nicspec.EndpointHost, 64<<20)
	ended, round := 0, 0
	post := func() {
		for k := range each {
			at := uint64(k) << 12
			require.NoError(t, cores[0].Store(from+at, nictest.Pattern(bytes, uint64(100*round+k))))
			require.NoError(t, mine.Post(&rnicspec.WQE{
				Opcode: rnicspec.Write, ID: uint64(round*each + k), Flags: rnicspec.FlagSignalled, Length: bytes,
				LocalVA: from + at, LocalKey: regionKey + nicspec.EndpointHost, RemoteVA: to + at,
				RemoteKey: regionKey + nicspec.EndpointHost,
			}))
		}
		cores[0].Fence()
		require.NoError(t, mine.Ring())
		round++
	}
	_, err = nodes[0].cq.Follow(func() {
		require.NoError(t, nodes[0].cq.Poll(func(c *rnicspec.CQE) {
			require.Equal(t, rnicspec.OK, c.Status)
			require.EqualValues(t, ended, c.ID)
			ended++
		}, func(int) {
			if ended == round*each && round < rounds {
				post()
			}
		}))
	})
	require.NoError(t, err)
	post()
	require.NoError(t, e.Run())
	require.Zero(t, e.Pending(), "idle cores cost no events")
	require.Equal(t, rounds*each, ended)
	for k := range each {
		got := make([]byte, bytes)
		require.NoError(t, cores[1].Load(to+uint64(k)<<12, got))
		require.Equal(t, nictest.Pattern(bytes, uint64(100*(rounds-1)+k)), got, fmt.Sprint(k))
	}
	require.NoError(t, e.Run())
	require.NoError(t, r.Err())
	for i, c := range r.Cards() {
		require.NoError(t, nodes[i].dev.Err())
		require.True(t, c.Idle())
		require.NotZero(t, cores[i].Stats().StoreBytes)
	}
}
