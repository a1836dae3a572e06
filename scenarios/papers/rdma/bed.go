package rdma

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink"
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/papers/study"
)

// nic is the Go interface of the NICs in these experiments: plain ones (`plain`) and SmartNICs (`snic`).
type nic interface {
	board.NIC
	Err() error
	Counter(rnicspec.Counter) uint64
	Traffic() rnic.Traffic
}

// bed is a target and client machines on a switch.
type bed struct {
	s       *study.Session
	engine  *simcore.Engine
	pools   board.Pools
	network *etherlink.Switch
	target  *machine
	clients []*machine
	qpn     uint32 // number of the latest queue pair
	moved   uint64 // bytes of payload moved
	err     error  // first error that could not be returned to a caller
}

// change adapts a machine's card and NIC before it is built.
type change func(*board.CardSpec, *rnic.Spec)

func newBed(s *study.Session, target string, clients int, changes ...change) (*bed, error) {
	return newBedOf(s, target, clients, changes, nil)
}

// newBedOf applies one list of changes to the target and another to the clients.
func newBedOf(s *study.Session, target string, clients int, changes, ofClients []change) (*bed, error) {
	b := &bed{s: s, engine: simcore.NewEngine()}
	spec := etherlink.Default(max(clients+1, 2))
	spec.Longest = 9240
	for i := range clients + 1 {
		spec.Table = append(spec.Table, core.Entry{MAC: mac(i), Port: i})
	}
	var err error
	if b.network, err = (etherlink.Builder{Scheduler: b.engine, Spec: spec, Frames: &b.pools.Frames}).Build(
		"Network"); err != nil {
		return nil, err
	}
	x, err := nicSpec(s, target)
	if err != nil {
		return nil, err
	}
	preset := map[string]string{plain: "connectx6", snic: "bf2"}[target]
	if b.target, err = b.add("Target", preset, x, int64(s.Input("net.rate")), changes); err != nil {
		return nil, err
	}
	for i := range clients {
		if x, err = clientSpec(s); err != nil {
			return nil, err
		}
		m, err := b.add(fmt.Sprintf("Client[%d]", i), "connectx4", x, int64(s.Input("client.rate")), ofClients)
		if err != nil {
			return nil, err
		}
		b.clients = append(b.clients, m)
	}
	return b, b.err
}

// add puts a machine on the switch.
func (b *bed) add(name, preset string, x rnic.Spec, gbps int64, changes []change) (*machine, error) {
	c, err := cardSpec(b.s, name, preset)
	if err != nil {
		return nil, err
	}
	for _, f := range changes {
		f(&c, &x)
	}
	m := &machine{bed: b, index: len(b.clients), handles: map[*machine]uint32{}}
	if b.target != nil {
		m.index++
	}
	if m.card, err = board.NewCard(b.engine, &b.pools, c, device.RNIC(x)); err != nil {
		return nil, err
	}
	m.nic = m.card.NIC.(nic)
	m.ends[nicspec.EndpointHost] = &end{m: m, ep: nicspec.EndpointHost, regs: m.card.Host.MMIO(nicspec.RequesterHost)}
	if m.card.Switch != nil {
		m.ends[nicspec.EndpointArm] = &end{m: m, ep: nicspec.EndpointArm, regs: m.card.Root.MMIO(nicspec.RequesterArm)}
	}
	const credits = 4096
	l := etherlink.DefaultLink()
	l.Mbps, l.Propagation = gbps*1000, ns(b.s.Input("net.cable"))
	if err := board.Cable(name+".Cable", b.engine, l.Plain(credits), b.network.Port(m.index),
		m.nic.Eth(0)); err != nil {
		return nil, err
	}
	m.do(&rnicspec.SetPort{MAC: mac(m.index), IP: ip(m.index)})
	for ep, e := range m.ends {
		if e != nil {
			m.do(&rnicspec.CreateMR{Key: key(ep), Access: rnicspec.AllAccess, PageLog: 21, VA: mem.Bus(ep, 0),
				Bus: mem.Bus(ep, 0), Bytes: memoryBytes})
		}
	}
	return m, nil
}

func (b *bed) fail(err error) {
	if err != nil && b.err == nil {
		b.err = err
		b.engine.Stop()
	}
}

// run runs until nothing is in flight, and checks that nothing failed.
func (b *bed) run() error {
	errs := []error{b.engine.Run(), b.err, b.network.Err()}
	for _, m := range append([]*machine{b.target}, b.clients...) {
		errs = append(errs, m.nic.Err(), m.card.Err())
		for _, k := range []rnicspec.Counter{rnicspec.CntDropped, rnicspec.CntRetries, rnicspec.CntRNR,
			rnicspec.CntReadErrors, rnicspec.CntWrongAccess} {
			if n := m.nic.Counter(k); n > 0 {
				errs = append(errs, fmt.Errorf("%s: counter %v is %d: want 0", m.card.Name, k, n))
			}
		}
	}
	in, out := b.network.Balance()
	if in != out || b.network.Dropped(core.None).Frames > 0 {
		errs = append(errs, fmt.Errorf("network: %+v came in, %+v went out: want all, and none dropped", in, out))
	}
	if s := b.target.card.Switch; s != nil {
		in, out := s.Balance()
		errs = append(errs, study.Balance("switch", in.Wire, out.Wire))
	}
	return errors.Join(append(errs, b.s.Err())...)
}

func mac(i int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(i)} }
func ip(i int) [16]byte { return [16]byte{10, 0, 0, byte(i)} }
func key(ep int) uint32 { return uint32(ep + 1) }

// machine is a server with a card and its NIC.
type machine struct {
	bed     *bed
	index   int
	card    *board.Card
	nic     nic
	ends    [2]*end // software by endpoint, Arm or host; a plain NIC has no Arm
	seq     uint16
	ah      uint32
	handles map[*machine]uint32
}

// end is the software on one endpoint of a machine: on its Arm or on its host.
type end struct {
	m    *machine
	ep   int
	regs *root.MMIO
	next uint64 // next free address of the endpoint's memory
}

// do carries out a command of the NIC.
func (m *machine) do(cmd rnicspec.Command) {
	var b [rnicspec.CmdBytes]byte
	m.seq++
	seq, regs := m.seq, m.ends[nicspec.EndpointHost].regs
	rnicspec.EncodeCommand(cmd, seq, b[:])
	m.bed.fail(regs.Write(rnicspec.RegCommand, b[:]))
	m.bed.fail(regs.Read(rnicspec.RegResult, 8, func(v uint64, err error) {
		if r := rnicspec.ResultOf(v); err == nil && (r.Seq != seq || r.Code != 0) {
			err = fmt.Errorf("the NIC refuses %T %+v: %v", cmd, cmd, rnicspec.Refusal(r.Code))
		}
		m.bed.fail(err)
	}))
	m.bed.fail(m.bed.engine.Run())
}

// alloc reserves n bytes of memory. Addresses of a machine are never reused.
func (e *end) alloc(n uint64) uint64 {
	at := mem.Bus(e.ep, e.next)
	e.next += (n + mem.LineBytes - 1) &^ (mem.LineBytes - 1)
	return at
}

// to returns the address handle of another machine.
func (m *machine) to(peer *machine) uint32 {
	if h := m.handles[peer]; h != 0 {
		return h
	}
	m.ah++
	m.handles[peer] = m.ah
	m.do(&rnicspec.CreateAH{Handle: m.ah, MAC: mac(peer.index), IP: ip(peer.index), UDPPort: 0xc000, TTL: 64})
	return m.ah
}
