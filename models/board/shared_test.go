package board

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

// dmaNIC is a NIC through which a test reads and writes memory.
type dmaNIC struct {
	*sim.ComponentBase
	t    testing.TB
	slot Slot
	pcie *simcore.Port
	eth  []*simcore.Port
	seqs [][]byte // frames received at port 0
	read []byte   // data of the completions received
}

func newDMA(t testing.TB, into *[]*dmaNIC) Factory {
	return func(s Slot) (NIC, error) {
		d := &dmaNIC{ComponentBase: sim.NewComponentBase(s.Name), t: t, slot: s}
		d.pcie = simcore.NewPort(d, 64, s.Name+".PCIe")
		for i := range s.Ports {
			d.eth = append(d.eth, simcore.NewPort(d, 64, fmt.Sprintf("%s.Eth[%d]", s.Name, i)))
		}
		*into = append(*into, d)
		return d, nil
	}
}

func (d *dmaNIC) Observe(boundary.Observer)               {}
func (d *dmaNIC) ObserveRest(boundary.RestObserver)       {}
func (d *dmaNIC) ObserveHeld(boundary.HeldObserver)       {}
func (d *dmaNIC) PCIe() *simcore.Port                     { return d.pcie }
func (d *dmaNIC) Eth(i int) *simcore.Port                 { return d.eth[i] }
func (d *dmaNIC) Period() simcore.Ps                      { return 1000 }
func (d *dmaNIC) EthBits() int                            { return 256 }
func (d *dmaNIC) Begin(func() bool) error                 { return nil }
func (d *dmaNIC) Check() error                            { return nil }
func (d *dmaNIC) Cycles() int64                           { return 0 }
func (d *dmaNIC) Close() error                            { return nil }
func (d *dmaNIC) Handle(sim.Event) error                  { return nil }
func (d *dmaNIC) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

func (d *dmaNIC) NotifyRecv(at sim.VTimeInSec, port sim.Port) {
	for m := port.Retrieve(at); m != nil; m = port.Retrieve(at) {
		switch x := m.(type) {
		case *msg.TLP:
			h, err := x.Header()
			require.NoError(d.t, err)
			require.Equal(d.t, tlp.CplD, h.Kind)
			d.read = append(d.read, x.Data...)
			d.slot.TLPs.Put(x)
		case *msg.Frame:
			if port == d.eth[0] { // the other port gets copies that the switch floods
				d.seqs = append(d.seqs, append([]byte(nil), x.Data...))
			}
			d.slot.Frames.Put(x)
		}
	}
}

func (d *dmaNIC) write(addr uint64, b string) {
	p := d.slot.TLPs.Get()
	require.NoError(d.t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic}, addr, []byte(b)))
	require.Nil(d.t, d.pcie.SendAt(p, d.slot.Engine.Now()))
}

func (d *dmaNIC) requestRead(addr uint64, n int) {
	p := d.slot.TLPs.Get()
	require.NoError(d.t, p.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterNic}, 1, addr, n))
	require.Nil(d.t, d.pcie.SendAt(p, d.slot.Engine.Now()))
}

// lab is a rack from a board file, with a dmaNIC in every slot.
type lab struct {
	*simcore.Engine
	t     testing.TB
	pools *Pools
	rack  *Rack
	nics  []*dmaNIC
}

func newLab(t testing.TB, text string) *lab {
	s, err := ParseRack("lab.yaml", []byte(text))
	require.NoError(t, err)
	l := &lab{Engine: simcore.NewEngine(), t: t, pools: new(Pools)}
	l.rack, err = NewRack(l.Engine, l.pools, s, newDMA(t, &l.nics))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.rack.Close()) })
	return l
}

// run runs until no event is left, and requires that every card is idle.
func (l *lab) run() {
	require.NoError(l.t, l.Run())
	require.NoError(l.t, l.rack.Err())
	for _, c := range l.rack.Cards() {
		require.True(l.t, c.Idle(), c.Name)
		require.NoError(l.t, c.Overdue())
	}
	require.Zero(l.t, l.pools.TLPs.Live())
}

// poll makes a core poll a word until it is not zero, and returns the value.
func (l *lab) poll(c *cpu.Core, addr uint64, n int) (seen []byte, at *simcore.Ps) {
	seen, at = make([]byte, n), new(simcore.Ps)
	loop, err := c.Add(cpu.LoopSpec{Name: "Poll", Poll: 10}, func(c *cpu.Core) bool {
		require.NoError(l.t, c.Load(addr, seen))
		if seen[0] == 0 || *at != 0 {
			return false
		}
		c.Call(func() { *at = l.Now() })
		return true
	})
	require.NoError(l.t, err)
	_, err = loop.Watch(addr, n)
	require.NoError(l.t, err)
	return seen, at
}

func (l *lab) core(card, endpoint, n int) *cpu.Core {
	c, err := l.rack.Cards()[card].Memory.Host(endpoint).Core(0, n)
	require.NoError(l.t, err)
	return c.Core
}

const twoCards = `
name: Lab
servers:
- name: S
  memory: {bytes: 1073741824, %s}
  cards:
  - {preset: bf3, name: A, switch: {preset: bf3, host: {cache: null, dram: null%s}}}
  - {preset: bf2, name: B, switch: {preset: bf2, host: {cache: null, dram: null}}}
`

// Two cards and a core share the server's one cache: a line that card A or card B writes must wake
// the core that polls it, and each card must read what the other wrote.
func TestCardsShareTheirServer(t *testing.T) {
	l := newLab(t, fmt.Sprintf(twoCards, "host: {preset: host-fn}", ", socket: 1"))
	cards, at := l.rack.Cards(), mem.Bus(nicspec.EndpointHost, 0x4000)
	server := cards[0].Memory.Host(nicspec.EndpointHost)
	require.Same(t, server, cards[1].Memory.Host(nicspec.EndpointHost))
	polls := l.core(1, nicspec.EndpointHost, 0)
	seen, when := l.poll(polls, at, 8)
	l.run()
	l.nics[1].write(at+8, "of B....")
	l.run()
	require.Zero(t, *when)
	l.nics[0].write(at, "of A....")
	l.run()
	require.Equal(t, "of A....", string(seen))
	require.Positive(t, *when)
	stats := server.LLC[0].Counters()[mem.Device]
	require.EqualValues(t, 2, stats.Writes)
	require.EqualValues(t, 2, stats.WriteHits, "both found the line that the core polls")
	l.nics[1].requestRead(at, 16)
	l.run()
	require.Equal(t, "of A....of B....", string(l.nics[1].read))
	require.NoError(t, polls.Store(at+64, []byte("of the server...")))
	l.run()
	l.nics[0].requestRead(at+64, 16)
	l.run()
	require.Equal(t, "of the server...", string(l.nics[0].read))
	// Card A is attached to socket 1, so its accesses cross the link between sockets; card B's do
	// not.
	links := server.Sockets.Links()
	require.EqualValues(t, 8+16, links[1].Stats().FinishedBytes)
	require.Zero(t, cards[0].Memory.Stray()+cards[1].Memory.Stray())
}

// Two cards must share one cache and DRAM also on a server without cores.
func TestCardsShareACache(t *testing.T) {
	l := newLab(t, fmt.Sprintf(twoCards, "cache: {preset: host-op}, dram: {preset: host-op}", ""))
	cards, at := l.rack.Cards(), mem.Bus(nicspec.EndpointHost, 0x4000)
	cache := cards[0].Memory.Cache(nicspec.EndpointHost)
	require.Same(t, cache, cards[1].Memory.Cache(nicspec.EndpointHost))
	l.nics[0].write(at, "of A")
	l.run()
	l.nics[1].requestRead(at, 4)
	l.run()
	require.Equal(t, "of A", string(l.nics[1].read))
	require.EqualValues(t, 1, cache.Counters()[mem.Device].ReadHits)
}

// GPU memory is an address range behind the host's root: cards must write it over the GPU's link,
// and cores must see the bytes there.
func TestGPUs(t *testing.T) {
	for name, memory := range map[string]string{"cores": "host: {preset: host-fn}",
		"no cores": "cache: {preset: host-fn}, dram: {preset: host-fn}"} {
		gpus := "gpus: [{preset: gen5, base: 0x100010000000000, bytes: 4096}, {preset: gen4, base: " +
			"0x100020000000000, bytes: 4096}]"
		l := newLab(t, fmt.Sprintf(twoCards, memory+", "+gpus, ""))
		c, at := l.rack.Cards()[0], mem.Bus(nicspec.EndpointHost, 1<<40)
		l.nics[0].write(at, "for the GPU")
		began := l.Now()
		l.nics[0].write(mem.Bus(nicspec.EndpointHost, 64), "for the host")
		l.run()
		require.Greater(t, l.Now()-began, (300+400+300)*ns, "%s: link and memory of the GPU", name)
		require.EqualValues(t, 11, c.Memory.GPU(0).Stats().FinishedBytes, name)
		require.Zero(t, c.Memory.GPU(1).Stats().FinishedBytes)
		require.Nil(t, c.Memory.GPU(2))
		b := make([]byte, 11)
		require.NoError(t, c.Memory.Read(at, b))
		require.Equal(t, "for the GPU", string(b))
		l.nics[1].requestRead(at, 8)
		l.run()
		require.Equal(t, "for the ", string(l.nics[1].read))
		l.nics[1].write(at+4096, "beyond")
		l.run()
		require.Equal(t, 1, l.rack.Cards()[1].Memory.Stray())
		if name != "cores" {
			continue
		}
		core := l.core(1, nicspec.EndpointHost, 2)
		require.NoError(t, core.Store(at+64, []byte("of a core")))
		require.NoError(t, core.Load(at, b))
		l.run()
		require.Equal(t, "for the GPU", string(b))
		require.NoError(t, c.Memory.GPU(0).Read(at+64, b[:9]))
		require.Equal(t, "of a core", string(b[:9]))
	}
}

// An Arm core writes a line of host memory that a host core polls, and reads it back. Its TLPs must
// cross the switch, but not the NIC's link.
func TestArmCoresReachTheHost(t *testing.T) {
	for _, preset := range []string{"bf3-cores", "bf2-cores"} {
		l := newLab(t, "preset: "+preset)
		c := l.rack.Cards()[0]
		at := mem.Bus(nicspec.EndpointHost, 0x4000)
		seen, when := l.poll(l.core(0, nicspec.EndpointHost, 0), at, 8)
		arm := l.core(0, nicspec.EndpointArm, 3)
		l.run()
		began, read, took := l.Now(), make([]byte, 100), simcore.Ps(0)
		require.NoError(t, arm.Store(at, []byte("from Arm, over two lines"+string(make([]byte, 60)))))
		require.NoError(t, arm.Load(at, read))
		arm.Call(func() { took = l.Now() - began })
		l.run()
		require.Equal(t, "from Arm", string(seen), preset)
		require.Equal(t, "from Arm, over two lines", string(read[:24]), "a core sees its own stores")
		oneWay := (50 + 25 + 150) * ns // Arm's link, switch, host's link
		require.Greater(t, *when-began, oneWay)
		require.Less(t, *when-began, 3*oneWay, "with a walk through the page tables")
		s := c.ArmOutbound.Stats()
		require.EqualValues(t, 2, s.WriteTLPs)
		require.Positive(t, s.ReadTLPs)
		require.Equal(t, s.AcceptedBytes, s.FinishedBytes)
		require.Greater(t, took, 2*oneWay, "a load crosses twice")

		// The Arm's caches must not have kept the line: a later read sees what the host writes now.
		require.NoError(t, c.Memory.Write(at, []byte("anew....")))
		before := c.ArmOutbound.Stats().ReadTLPs
		require.NoError(t, arm.Load(at, read[:8]))
		l.run()
		require.Equal(t, "anew....", string(read[:8]))
		require.Greater(t, c.ArmOutbound.Stats().ReadTLPs, before)
		require.Zero(t, c.Memory.Stray())
		require.Error(t, arm.Store(mem.Bus(nicspec.EndpointHost, 1<<30), []byte{1}))
	}
}

// Host cores write Arm memory by register writes that firmware emulates, one per millisecond. Each
// must also have its own latency.
func TestHostCoresWriteArmMemoryByMMIO(t *testing.T) {
	l := newLab(t, "preset: bf3-cores")
	c := l.rack.Cards()[0]
	seen, when := l.poll(l.core(0, nicspec.EndpointArm, 0), 0x4000, 4)
	host := l.core(0, nicspec.EndpointHost, 1)
	l.run()
	began, value := l.Now(), uint64(0)
	for i := range uint32(3) {
		host.Post(c.HostMMIO, 0x4000+64*i, []byte{byte(i + 1), 9, 8, 7})
	}
	host.ReadReg(c.HostMMIO, 0x4080, 4, func(v uint64, err error) {
		require.NoError(t, err)
		value = v
	})
	l.run()
	require.Equal(t, []byte{1, 9, 8, 7}, seen)
	require.EqualValues(t, 0x07080903, value)
	require.InDelta(t, float64(simcore.Microsecond), float64(*when-began), float64(simcore.Microsecond),
		"nothing is before the first one")
	require.InDelta(t, float64(3*simcore.Millisecond), float64(l.Now()-began), float64(10*simcore.Microsecond))
	require.Positive(t, c.Switch.Out("Host", "Arm")[tlp.Posted].TLPs, "the bytes cross the switch")
}

func TestSharingSpecsNameEveryField(t *testing.T) {
	for _, x := range [][2]string{
		{"memory: {bytes: 0}", "f.yaml:4: servers[0].memory.bytes 0: want 1 to"},
		{"memory: {bytes: 1073741824, cache: {preset: host-x}}",
			"f.yaml:4: servers[0].memory.cache.preset: armcache: preset is"},
		{"memory: {bytes: 4096}",
			"servers[0].cards[0].endpoint.host_bytes 1073741824: want the 4096 of the memory that the server's " +
				"cards share"},
		{"memory: {bytes: 1073741824}",
			"servers[0].cards[0].switch.host.cache: want none: the server has a memory that its cards share"},
		{"memory: {bytes: 1073741824, host: {preset: bf3}}", "servers[0].memory.host.base 0x0: want 0x100000000000000"},
		{"memory: {bytes: 1073741824, gpus: [{preset: gen9}]}",
			`f.yaml:4: servers[0].memory.gpus[0].preset: gpu: preset is "gen9": want gen4 or gen5`},
		{"memory: {bytes: 1073741824, gpus: [{preset: gen5, base: 0x100000000000000, bytes: 4096}]}",
			"f.yaml:4: servers[0].memory.gpus[0].base 0x100000000000000: want its 0x1000 B from " +
				"0x100000040000000, the end of host memory"},
		{"memory: {bytes: 1073741824, gpus: [{preset: gen5, base: 0x100010000000000, bytes: 4096}, {preset: " +
			"gen5, base: 0x100010000000100, bytes: 4096}]}",
			"servers[0].memory.gpus[1].base 0x100010000000100: its 0x1000 B overlap those of gpus[0]"},
		{"memory: {bytes: 1073741824, gpus: [{preset: gen5, base: 0x100010000000000}]}",
			"servers[0].memory.gpus[0].bytes 0: want 1 to 2^56"},
		{"cards: [{preset: bf3, switch: {preset: bf3, arm: {gpus: [{preset: gen5, base: 1, bytes: 1}]}}}]",
			"servers[0].cards[0].switch.arm.gpus: want none: GPUs are behind the host's root only"},
		{"cards: [{preset: bf3, switch: {preset: bf3, arm_outbound: {tags: 0}}}]",
			"f.yaml:4: servers[0].cards[0].switch.arm_outbound.tags 0: want 1 to 256"},
		{"cards: [{preset: bf3, switch: {preset: bf3, arm_outbound: {tags: 8}}}]",
			"f.yaml:4: servers[0].cards[0].switch.arm_outbound: want none, or cores that use it: a machine at " +
				"servers[0].cards[0].switch.arm.host"},
		{"cards: [{preset: bf3, switch: {preset: bf3, host_mmio: {preset: x}}}]",
			"servers[0].cards[0].switch.host_mmio.preset: mmio: preset is \"x\": want emulated"},
		{"cards: [{preset: bf3, switch: {preset: bf3, host_mmio: {preset: emulated, depth: 0}}}]",
			"servers[0].cards[0].switch.host_mmio.depth 0: want 1 to 65536"},
		{"cards: [{preset: bf3-cores, switch: {preset: bf3, host: {cache: null, dram: null, host: {preset: " +
			"host-fn}, socket: 2}}}]",
			"f.yaml:4: servers[0].cards[0].switch.host.socket 2: want 0 to 1"},
		{"memory: {bytes: 1073741824, host: {preset: host-fn}}\n  cards: [{preset: bf3, switch: {preset: bf3, " +
			"host: {cache: null, dram: null, socket: 2}}}]",
			"f.yaml:5: servers[0].cards[0].switch.host.socket 2: want 0 to 1"},
		{"cards: [{preset: bf3, switch: {preset: bf3, host: {socket: 1}}}]",
			"f.yaml:4: servers[0].cards[0].switch.host.socket 1: want 0 to 0, a socket of the machine behind " +
				"the root"},
		{"cards: [{preset: bf3, switch: {preset: bf3, arm: {socket: 1}}}]",
			"f.yaml:4: servers[0].cards[0].switch.arm.socket 1: want 0 to 0"},
		{"cards: [{preset: connectx6, direct: {socket: -1}}]",
			"f.yaml:4: servers[0].cards[0].direct.socket -1: want 0 to 0"},
		{"memory: {bytes: 1073741824}\n  cards: [{preset: bf3, switch: null}]",
			"servers[0].cards[0].switch: want one, or servers[0].cards[0].direct"},
		{"memory: {bytes: 1073741824}\n  cards: [{preset: connectx6}]", "servers[0].cards[0].direct.cache: want none"},
	} {
		text, want := x[0], x[1]
		_, err := ParseRack("f.yaml", []byte("name: Lab\nservers:\n- preset: bf3\n  "+text))
		require.ErrorContains(t, err, want, "%q", text)
	}
	for _, x := range [][2]string{
		{"{kind: open, loss: {share: 0.1}}", "f.yaml:2: network.loss: want none: a network of kind open has no cables"},
		{"{kind: back_to_back, loss: {share: 1}}", "f.yaml:2: network.loss.share 1: want 0 or more, less than 1"},
		{"{kind: back_to_back, loss: {share: .nan, seed: 3}}", "network.loss.share"},
		{"{kind: back_to_back, loss: {share: 0.1, chance: 0.1}}",
			"network.loss.chance: no such field: want one of share"},
	} {
		text, want := x[0], x[1]
		_, err := ParseRack("f.yaml", []byte("preset: bf3-pair\nnetwork: "+text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}
