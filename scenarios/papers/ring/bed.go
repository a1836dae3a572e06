package ring

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/papers/study"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
	"nictwin/stack/verbs"
)

// bed is two servers on a switch, with software on one core of each.
type bed struct {
	s      *study.Session
	engine *simcore.Engine
	pools  board.Pools
	rack   *board.Rack
	sides  [2]*side
	err    error
	over   bool
}

// side is one of the two servers, with its software.
type side struct {
	b     *bed
	index int
	core  *host.Core
	dev   *rnicverbs.Device
	ctx   *provider.Context
	pd    verbs.PD
	mr    verbs.MR
	next  uint64 // next free address of the server's memory
}

// Sizes of the driver's memory and of host memory. Rings are in host memory, whose upper half belongs to the server's
// other socket.
const (
	driverBytes = 64 << 20
	hostBytes   = 4 << 30
)

// newBed builds the testbed for a design. Cache sizes are divided by scale.
func newBed(s *study.Session, d *design, scale int, change ...func(*rnic.Spec)) (*bed, error) {
	b := &bed{s: s, engine: simcore.NewEngine()}
	spec, err := rackSpec(s, d, scale)
	if err != nil {
		return nil, err
	}
	x, err := rnic.Preset("connectx5")
	if err != nil {
		return nil, err
	}
	t := ns(s.Input("nic.latency"))
	x.Latency = rnic.Latency{Requester: t, Read: t, Write: t, Send: t, Datagram: t, Atomic: t}
	for _, f := range change {
		f(&x)
	}
	if b.rack, err = board.NewRack(b.engine, &b.pools, spec, device.RNIC(x)); err != nil {
		return nil, err
	}
	for i := range b.sides {
		if b.sides[i], err = b.open(i, d); err != nil {
			return nil, errors.Join(err, b.rack.Close())
		}
	}
	if err := b.settle(); err != nil {
		return nil, errors.Join(err, b.rack.Close())
	}
	return b, nil
}

// rackSpec returns the spec of both servers and the switch.
func rackSpec(s *study.Session, d *design, scale int) (board.RackSpec, error) {
	r, err := board.RackPreset(s.Text("testbed"))
	if err != nil {
		return r, err
	}
	sw, err := etherlink.Preset(string(etherlink.CutThrough))
	if err != nil {
		return r, err
	}
	r.Network = board.NetworkSpec{Kind: board.NetworkSwitch, Latency: ns(s.Input("net.cable")), Switch: &sw}
	page := int64(tlb.Page2M)
	if d.small {
		page = tlb.Page4K
	}
	for i := range r.Servers {
		c := &r.Servers[i].Cards[0]
		c.Eth.Latency, c.Eth.CreditLatency = 0, 0
		c.Eth.OverheadBytes = 0 // the NIC model counts InfiniBand's overhead itself
		c.Endpoint.Ahead, c.Endpoint.HostBytes = 0, hostBytes
		h, err := host.Preset("host-rb", mem.Bus(nicspec.EndpointHost, 0), page)
		if err != nil {
			return r, err
		}
		h.SocketBytes, h.TLB.Covers = hostBytes/uint64(h.Sockets), hostBytes
		h.TLB.Tables = h.Base + (h.SocketBytes-h.TLB.TableBytes())&^4095
		h.LLC.SizeBytes /= int64(scale)
		h.Private.SizeBytes /= int64(scale)
		h.CPU.MMIOPost = ns(s.Input("host.mmio"))
		c.Direct.Host = &h
	}
	return r, nil
}

// open starts the driver of a server.
func (b *bed) open(i int, d *design) (*side, error) {
	x := &side{b: b, index: i, next: mem.Bus(nicspec.EndpointHost, driverBytes)}
	if d.far {
		x.next = mem.Bus(nicspec.EndpointHost, hostBytes/2)
	}
	card := b.rack.Servers[i].Cards[0]
	var err error
	if x.core, err = card.Memory.Host(nicspec.EndpointHost).Core(0, 0); err != nil {
		return nil, err
	}
	cost := corebus.Spec{Poll: x.cycles("host.look"), Build: x.cycles("host.build"), Take: x.cycles("host.take")}
	bus, err := corebus.New(x.core.Core, card.Host.MMIO(nicspec.RequesterHost), cost)
	if err != nil {
		return nil, err
	}
	if x.dev, err = rnicverbs.Open(bus,
		driver.NewArena(mem.Bus(nicspec.EndpointHost, 1<<20), driverBytes/2)); err != nil {
		return nil, err
	}
	x.dev.SetPort(rnicspec.SetPort{MAC: mac(i), IP: ip(i)})
	const longest = 4096
	port := verbs.PortAttr{Active: true, MaxMTU: longest, ActiveMTU: longest, MaxMessage: rnicspec.MaxMessage,
		MAC: mac(i), GID: gid(i)}
	pages := provider.Spec{Ports: []verbs.PortAttr{port}, MTU: longest, PageLog: 21}
	if d.small {
		pages.PageLog = 12
	}
	if x.ctx, err = provider.New(x.dev, pages); err != nil {
		return nil, err
	}
	x.ctx.AllocPD(x.keepPD)
	const all = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead
	x.ctx.RegMR(x.pd, mem.Bus(nicspec.EndpointHost, 0), hostBytes, all, func(m verbs.MR, err error) {
		x.mr = m
		b.fail(err)
	})
	return x, nil
}

func (x *side) keepPD(pd verbs.PD, err error) {
	x.pd = pd
	x.b.fail(err)
}

// cycles converts an input to cycles of the core.
func (x *side) cycles(input string) int64 {
	period := x.core.Spec().Period
	return int64((ns(x.b.s.Input(input)) + period/2) / period)
}

func mac(i int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(1 + i)} }
func ip(i int) [16]byte { return [16]byte{10, 0, 0, byte(1 + i)} }

// gid returns the GID ::ffff:10.0.0.x of server i.
func gid(i int) [16]byte { return [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: byte(1 + i)} }

func (b *bed) fail(err error) {
	if err != nil && b.err == nil {
		b.err = err
		b.stop()
	}
}

// stop ends the measurement: software loops do nothing from then on.
func (b *bed) stop() {
	b.over = true
	b.engine.Stop()
}

// settle runs until no events are left.
func (b *bed) settle() error {
	return errors.Join(b.engine.Run(), b.wrong())
}

// wrong returns the errors of all components, and an error for every error counter of a NIC that is not zero.
func (b *bed) wrong() error {
	errs := []error{b.err, b.s.Err()}
	for _, x := range b.sides {
		if x == nil {
			continue
		}
		card := b.rack.Servers[x.index].Cards[0]
		errs = append(errs, x.dev.Err(), x.core.Err(), card.Err())
		n, ok := card.NIC.(interface{ Counter(rnicspec.Counter) uint64 })
		for _, k := range []rnicspec.Counter{rnicspec.CntDropped, rnicspec.CntRetries, rnicspec.CntRNR,
			rnicspec.CntReadErrors, rnicspec.CntWrongAccess} {
			if ok && n.Counter(k) > 0 {
				errs = append(errs, fmt.Errorf("server %d: counter %v is %d: want 0", x.index, k, n.Counter(k)))
			}
		}
	}
	return errors.Join(errs...)
}

// run runs the software until stop is called, and closes the testbed. begun is the error of starting the software; if
// it is set, run only closes the testbed.
func (b *bed) run(begun error) (err error) {
	if begun == nil {
		err = errors.Join(b.engine.Run(), b.wrong())
		if err == nil && !b.over {
			err = errors.New("nothing happens any more, and what was to be measured is not")
		}
		b.s.Outcome.SimPs += int64(b.engine.Now())
	}
	return errors.Join(err, b.rack.Close())
}

// alloc reserves n bytes of a server's memory, at an address `beyond` bytes above a multiple of 4 KB.
func (x *side) alloc(n uint64, beyond int) uint64 {
	const page = 4096
	at := x.next
	x.next += (n + uint64(beyond) + page) &^ (page - 1)
	return at + uint64(beyond)
}

// starts is the time in which loops start, each at a random time.
const starts = simcore.Microsecond

// loop starts a software loop on the core.
func (x *side) loop(name string, step func() bool) (*cpu.Loop, error) {
	begun := false
	return x.core.Add(cpu.LoopSpec{Name: name, Poll: x.cycles("host.look")}, func(*cpu.Core) bool {
		if !begun {
			begun = true
			x.core.Spend(x.b.s.Phase(name, starts))
		}
		return !x.b.over && step()
	})
}

// pair connects two queue pairs, each with a completion queue of its own.
func (b *bed) pair(caps [2]verbs.QPCap) (qps [2]verbs.QP, cqs [2]verbs.CQ, err error) {
	for i, x := range b.sides {
		x.ctx.CreateCQ(caps[i].MaxSendWR+caps[i].MaxRecvWR, func(q verbs.CQ, err error) {
			cqs[i] = q
			b.fail(err)
		})
		if b.err != nil {
			return qps, cqs, b.err
		}
		init := verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: cqs[i], RecvCQ: cqs[i], Cap: caps[i]}
		x.ctx.CreateQP(x.pd, init, func(q verbs.QP, err error) {
			qps[i] = q
			b.fail(err)
		})
		if b.err != nil {
			return qps, cqs, b.err
		}
	}
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		for i, x := range b.sides {
			x.modify(qps[i], qps[1-i].Num(), to)
		}
		if err := b.settle(); err != nil {
			return qps, cqs, err
		}
	}
	return qps, cqs, nil
}

// modify takes a queue pair to a state.
func (x *side) modify(q verbs.QP, peer uint32, to verbs.State) {
	from := map[verbs.State]verbs.State{verbs.QPSInit: verbs.QPSReset, verbs.QPSRTR: verbs.QPSInit,
		verbs.QPSRTS: verbs.QPSRTR}[to]
	const hops, reads, tries = 64, 16, 7
	a := verbs.QPAttr{
		State: to, Port: 1, AH: verbs.AHAttr{Port: 1, GID: gid(1 - x.index), MAC: mac(1 - x.index), HopLimit: hops},
		PathMTU: verbs.MTU(x.b.s.Input("net.mtu")),
		DestQPN: peer, Access: verbs.AccessRemoteWrite | verbs.AccessRemoteRead, MaxRdAtomic: reads,
		MaxDestRdAtomic: reads, RetryCnt: tries, RNRRetry: tries, MinRNRTimer: 1,
	}
	required, _, _ := verbs.Transition(verbs.QPTRC, from, to)
	x.ctx.ModifyQP(q, a, required|verbs.QPState, x.b.fail)
}
