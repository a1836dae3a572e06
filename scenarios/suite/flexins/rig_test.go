package flexins

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/flexins/data"
	"nictwin/stack/pipe"
	"nictwin/stack/pipe/copyengine"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// stacked is a card with data cores, and a host core that communicates with them by pipes.
type stacked struct {
	t     *testing.T
	card  *board.Card
	judge *judge.Judge
	d     *driver.Driver
	data  *data.Card
	host  *host.Core

	regions *verbs.Regions
	shadow  *pipe.Shadow
	spec    data.Spec
	mac     [6]byte
	mr      verbs.MR
	arm     uint64 // address in Arm memory by which the stack names the region

	sq   []pipe.Sender // pipe to each data core
	rq   []*pipe.Packer
	cqs  []*pipe.Consumer
	wcs  []pipe.Completion
	over bool
}

// duo is two cards with their stacks (type stacked), connected back to back.
type duo struct {
	*testing.T
	e     *simcore.Engine
	rack  *board.Rack
	nodes [2]*stacked
}

const (
	regionAt    = 256 << 20
	regionBytes = 64 << 20
	shadowAt    = 0x7000_0000_0000
	context     = 1
)

func newDuo(t *testing.T, cores int, spec data.Spec, kinds [2]board.DeviceKind, change func(*board.RackSpec)) *duo {
	h, err := hometest.Find()
	require.NoError(t, err)
	s, err := board.RackPreset("bf3-cores-pair")
	require.NoError(t, err)
	for i := range kinds {
		s.Servers[i].Cards[0].Device.Kind = kinds[i]
	}
	if change != nil {
		change(&s)
	}
	r := &duo{T: t, e: simcore.NewEngine()}
	r.rack, err = board.NewRack(r.e, new(board.Pools), s,
		device.Slots(device.Spec{NIC: device.Model, DUT: h.Path("nic"), Variant: "speed"}, nil))
	require.NoError(t, err)
	for i, c := range r.rack.Cards() {
		n := &stacked{t: t, card: c, spec: spec, mac: mac(i)}
		r.nodes[i] = n
		require.NoError(t, c.NIC.Begin(func() bool { return n.over }))
		n.open(cores)
	}
	r.settle()
	return r
}

func stackedBuild() nicspec.Build {
	b := nicspec.DefaultBuild()
	b.Ports, b.EthBits = 2, 256
	return b
}

func (n *stacked) bus(endpoint, core int, regs cpu.Registers) (*host.Core, *corebus.Bus) {
	c, err := n.card.Memory.Host(endpoint).Core(0, core)
	require.NoError(n.t, err)
	b, err := corebus.New(c.Core, regs, corebus.DefaultSpec())
	require.NoError(n.t, err)
	return c, b
}

// open makes core 15 of the Arm the control core, and the first `cores` cores the data cores.
func (n *stacked) open(cores int) {
	t := n.t
	var err error
	n.judge, err = judge.Attach(n.card.NIC, judge.Options{Name: n.card.Name, Build: stackedBuild()})
	require.NoError(t, err)
	arm := n.card.Root.MMIO(nicspec.RequesterArm)
	_, control := n.bus(nicspec.EndpointArm, 15, arm)
	o := driver.DefaultOptions()
	o.Build = stackedBuild()
	n.d, err = driver.New(control, o)
	require.NoError(t, err)
	all := dma.Access{Read: true, Write: true}
	hostAt, err := n.d.Alloc(nicspec.EndpointHost, 4<<20, 4096)
	require.NoError(t, err)
	hostKey, err := n.d.SetKey(driver.KeySpec{Index: 0, Variant: 1, Bus: hostAt, Len: 4 << 20, Rights: all})
	require.NoError(t, err)
	armAt, err := n.d.Alloc(nicspec.EndpointArm, 4<<20, 4096)
	require.NoError(t, err)
	armKey, err := n.d.SetKey(driver.KeySpec{Index: 1, Variant: 1, Bus: armAt, Len: 4 << 20, Rights: all})
	require.NoError(t, err)
	n.regions = verbs.NewRegions(64)
	n.shadow, err = pipe.NewShadow(pipe.Extent{From: shadowAt, Bytes: 1 << 30})
	require.NoError(t, err)
	cfg := data.Config{Spec: n.spec, Driver: n.d, Regions: n.regions, Shadow: n.shadow, FirstKey: 8, Host: hostKey,
		MACs: [][6]byte{n.mac}}
	for i := range cores {
		_, b := n.bus(nicspec.EndpointArm, i, arm)
		cfg.Cores = append(cfg.Cores, b)
	}
	n.data, err = data.New(cfg)
	require.NoError(t, err)
	n.register()
	n.openHost(cores, hostAt, armAt, hostKey, armKey)
	n.d.Enable(true, true)
}

// register registers the applications' region.
func (n *stacked) register() {
	at := mem.Bus(nicspec.EndpointHost, regionAt)
	var err error
	n.mr, err = n.regions.Register(1, at, regionBytes,
		verbs.AccessLocalWrite|verbs.AccessRemoteWrite|verbs.AccessRemoteRead|verbs.AccessRemoteAtomic)
	require.NoError(n.t, err)
	r, err := n.shadow.Register(n.mr.LKey, at, regionBytes)
	require.NoError(n.t, err)
	n.arm = r.Arm
	k, err := n.d.SetKey(driver.KeySpec{Index: 64, Variant: 1, VA: r.Arm, Bus: at, Len: regionBytes,
		Rights: dma.Access{Read: true, Write: true}})
	require.NoError(n.t, err)
	n.data.SetKey(n.mr.LKey, k)
}

// openHost opens the host's ends of the pipes.
func (n *stacked) openHost(cores int, hostAt, armAt uint64, keys ...*driver.Key) {
	t := n.t
	var b *corebus.Bus
	n.host, b = n.bus(nicspec.EndpointHost, 0, n.card.Host.MMIO(nicspec.RequesterHost))
	engine, err := copyengine.Open(n.d, driver.TxConfig{QueueConfig: driver.QueueConfig{
		Queue: 63, LogSize: 8, RingIn: nicspec.EndpointHost, DoneIn: nicspec.EndpointHost, Bus: b}}, keys...)
	require.NoError(t, err)
	s := n.spec.Pipe
	each := uint64(s.Bytes()) + 64
	var ends []data.Ends
	for i := range cores {
		var e data.Ends
		for k := range uint64(2) {
			to := armAt + (2*uint64(i)+k)*each
			at := pipe.Place{Ring: to, Counter: to + uint64(s.Bytes())}
			p, err := pipe.NewProducer(s, at, pipe.NewStaged(n.host, engine, hostAt+(2*uint64(i)+k)*each, to, each))
			require.NoError(t, err)
			c, err := pipe.NewConsumer(s, at, n.data.Memory(i))
			require.NoError(t, err)
			e.Watch = append(e.Watch, pipe.Extent{From: at.Ring, Bytes: uint64(s.Bytes())})
			if k == 0 {
				e.SQ, n.sq = c, append(n.sq, p)
			} else {
				e.RQ, n.rq = c, append(n.rq, pipe.NewPacker(p))
			}
		}
		ends = append(ends, e)
	}
	require.NoError(t, n.data.Attach(context, ends))
	first := hostAt + 2*uint64(cores)*each
	s = n.spec.Completions()
	each = uint64(s.Bytes()) + 64
	for i := range cores {
		at := first + uint64(i)*each
		place := pipe.Place{Ring: at, Counter: at + uint64(s.Bytes())}
		require.NoError(t, n.data.OpenCQ(1, i, place))
		c, err := pipe.NewConsumer(s, place, n.host)
		require.NoError(t, err)
		n.cqs = append(n.cqs, c)
		loop, err := n.host.Add(cpu.LoopSpec{Name: "completions", Poll: 62}, func(*cpu.Core) bool {
			b, err := c.Poll()
			require.NoError(t, err)
			if b == nil {
				return false
			}
			var w pipe.Completion
			require.NoError(t, w.Decode(b))
			n.wcs = append(n.wcs, w)
			return true
		})
		require.NoError(t, err)
		_, err = loop.Watch(place.Ring, s.Bytes())
		require.NoError(t, err)
	}
}

func (n *stacked) err() error {
	if err := n.data.Err(); err != nil {
		return err
	}
	return n.d.Err()
}

// settle runs until both nodes are idle.
func (r *duo) settle() {
	r.Helper()
	// Idle for longer than any timer of these tests; an RTL device keeps scheduling events, so the engine never runs
	// dry.
	for quiet, limit := 0, 0; quiet < 40 && limit < 4000; limit++ {
		before := r.mark()
		require.NoError(r, r.e.RunUntil(r.e.Now()+10*simcore.Microsecond))
		if quiet++; r.mark() != before {
			quiet = 0
		}
	}
	for _, n := range r.nodes {
		if n != nil {
			require.NoError(r, n.err())
		}
	}
	require.NoError(r, r.rack.Err())
}

// mark returns a value that changes as long as frames, requests or completions move, or a data core is busy.
func (r *duo) mark() (m uint64) {
	for _, n := range r.nodes {
		s := n.data.Stats()
		m += s.Received + s.Sent + s.Elements + s.Copied + uint64(len(n.wcs))
		if !n.data.Idle() {
			m = uint64(r.e.Now())
			break
		}
	}
	return m
}

func mac(i int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(i + 1)} }

func address(i int) transport.Address {
	return transport.Address{MAC: mac(i), IP: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})}
}

// pair connects a queue pair of a type between the nodes, on the core that its number selects.
func (r *duo) pair(typ verbs.QPType, qpn uint32, change func(*transport.Attr)) {
	const all = verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic
	for i, n := range r.nodes {
		ok := func(err error) { require.NoError(r, err) }
		n.data.CreateQP(data.QPConfig{QPN: qpn, Type: typ, Context: context, PD: 1, SendCQ: 1, RecvCQ: 1,
			MaxMessage: 1 << 30,
			Cap:        verbs.QPCap{MaxSendWR: 64, MaxRecvWR: 64}}, ok)
		a := transport.DefaultAttr()
		a.Path.Local, a.Path.Peer, a.DestQP, a.Timeout = address(i), address(1-i), qpn, 6
		if change != nil {
			change(&a)
		}
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			n.data.ModifyQP(qpn, data.Change{To: to, Attr: a, Access: all, QKey: 0x11}, ok)
		}
	}
	r.settle()
}

// post pushes a request. Its spans are offsets in the region.
func (n *stacked) post(e pipe.SendElement) {
	for i := range e.Spans {
		e.Spans[i].Addr += n.arm
	}
	var b [pipe.MaxLines * pipe.LineBytes]byte
	lines, err := e.Encode(b[:])
	require.NoError(n.t, err)
	require.NoError(n.t, n.sq[e.QPN&n.data.Mask()].Push(lines))
}

func (n *stacked) recv(qpn uint32, spans ...pipe.Span) {
	for i := range spans {
		spans[i].Addr += n.arm
	}
	p := n.rq[qpn&n.data.Mask()]
	require.NoError(n.t, p.Push(qpn, spans))
	require.NoError(n.t, p.Flush())
}

func (n *stacked) write(off uint64, b []byte) {
	require.NoError(n.t, n.card.Memory.Write(n.mr.Addr+off, b))
}

func (n *stacked) read(off uint64, k int) []byte {
	b := make([]byte, k)
	require.NoError(n.t, n.card.Memory.Read(n.mr.Addr+off, b))
	return b
}

// finish ends the run, and collects the referees' verdicts.
func (r *duo) finish() {
	counted := 0
	for _, n := range r.nodes {
		n.d.ReadCounters(func(driver.Counters) { counted++ })
	}
	r.settle()
	require.Equal(r, 2, counted)
	for _, n := range r.nodes {
		n.over = true
	}
	require.NoError(r, r.e.Run())
	for _, n := range r.nodes {
		rep := n.judge.Finish(judge.Whole)
		require.True(r, rep.Passed(), "%s: %v", n.card.Name, rep)
		require.True(r, n.data.Idle())
	}
	require.NoError(r, r.rack.Close())
}
