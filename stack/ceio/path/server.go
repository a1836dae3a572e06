package path

import (
	"errors"
	"fmt"
	"math/bits"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
	"nictwin/stack/ceio/device"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
)

// Config configures the paths of a node.
type Config struct {
	Spec   Spec
	Period simcore.Ps // of the NIC's clock

	// Arm is the bus of a core of the card, and Build the NIC's: with controller `arm` only.
	Arm   *corebus.Bus
	Build nicspec.Build
}

// Server opens the paths of one node.
type Server struct {
	c     Config
	d     *device.Device
	arm   *controller // nil: controller `nic`
	cores map[*corebus.Bus]*hostCore
	paths []*path
	flows []*device.Flow // by the number that the manager gives to the flow
	hub   hub            // paths of the shared ring

	strangers, marked uint64
}

// Stats counts what the paths of a server did with packets, besides the manager.
type Stats struct {
	Strangers uint64 // frames of the shared ring that belong to no flow, such as ARP requests: dropped
	Marked    uint64 // packets marked as congestion experienced
}

// Stats returns the counters.
func (s *Server) Stats() Stats { return Stats{s.strangers, s.marked} }

// hostCore is a core of the host that runs flows.
type hostCore struct {
	s      *Server
	bus    *corebus.Bus
	copier *device.Copier
	loop   *cpu.Loop // timers: calls each entry of waits when its time has come
	waits  fifo.Queue[wait]
	paths  []*path
}

// wait is a call that is due at a time.
type wait struct {
	at simcore.Ps
	f  func()
}

// New returns a server without paths.
func New(c Config) (*Server, error) {
	errs := []error{c.Spec.Validate()}
	if c.Period < 1 {
		errs = append(errs, fmt.Errorf("period of the NIC's clock %d: want 1 ps or more", c.Period))
	}
	if c.Spec.Controller == manager.ControlArm && c.Arm == nil {
		errs = append(errs, errors.New("controller arm: want a core of the card"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("ceio: %w", err)
	}
	return &Server{c: c, cores: map[*corebus.Bus]*hostCore{}, flows: make([]*device.Flow, c.Spec.Flows+1)}, nil
}

// Manager returns the manager, for its statistics; nil before the first path is open.
func (s *Server) Manager() *manager.Manager {
	if s.d == nil {
		return nil
	}
	return s.d.Manager()
}

// err returns the first error of device and controller, with the name that the node has for the flow.
func (s *Server) err() error {
	err := s.d.Err()
	if err == nil {
		return s.arm.err()
	}
	var e *manager.FlowError
	if !errors.As(err, &e) {
		return err
	}
	for _, p := range s.paths {
		if p.id == e.Flow && p.id < s.c.Spec.Flows {
			return errors.New(e.Of(p.c.Name))
		}
	}
	return errors.New(e.Of("the shared ring"))
}

// Flows returns the number of flows with an account.
func (s *Server) Flows() int { return s.c.Spec.Flows }

// Open implements hostnet.Opener: it opens the path of a flow.
func (s *Server) Open(c hostnet.PathConfig) (hostnet.Path, error) {
	p, err := s.open(c)
	if err != nil {
		return nil, fmt.Errorf("ceio: %s: %w", c.Name, err)
	}
	return p, nil
}

func (s *Server) open(c hostnet.PathConfig) (*path, error) {
	if err := s.begin(&c); err != nil {
		return nil, err
	}
	if n := 1 << c.Buffers.Log; n != s.c.Spec.FastSlots {
		return nil, fmt.Errorf("%d receive buffers (log_receive %d): want %d, fast_slots or those of the node's first "+
			"flow", n, c.Buffers.Log, s.c.Spec.FastSlots)
	}
	flow, err := s.c.Spec.Place(len(s.paths))
	if err != nil {
		return nil, err
	}
	k, err := s.core(&c)
	if err != nil {
		return nil, err
	}
	p := &path{s: s, c: c, core: k, id: flow}
	if flow == s.c.Spec.Flows {
		err = s.share(p)
	} else {
		err = s.openFlow(p)
	}
	if err != nil {
		return nil, err
	}
	p.flow = s.flows[flow]
	s.paths, k.paths = append(s.paths, p), append(k.paths, p)
	return p, nil
}

// begin opens the device with the first path.
func (s *Server) begin(c *hostnet.PathConfig) error {
	if s.d != nil {
		return nil
	}
	if s.c.Spec.FastSlots == 0 {
		s.c.Spec.FastSlots = 1 << c.Buffers.Log
	}
	cfg := device.Config{Driver: c.Driver, Spec: s.c.Spec.Spec, After: s.after}
	if s.c.Spec.Controller == manager.ControlArm {
		var err error
		if s.arm, err = newController(s); err != nil {
			return err
		}
		cfg.Steer = s.arm.driver.SetRule
	}
	d, err := device.New(cfg)
	s.d = d
	return err
}

// core returns the state of a path's core.
func (s *Server) core(c *hostnet.PathConfig) (*hostCore, error) {
	if k := s.cores[c.Bus]; k != nil {
		return k, nil
	}
	k := &hostCore{s: s, bus: c.Bus}
	queue, err := c.TakeTxQueue()
	if err != nil {
		return nil, err
	}
	log := bits.Len(uint(max(s.c.Spec.CopyEntries()-1, 1<<nicspec.LogSizeMin-1))) // for all flows on one core
	if k.copier, err = s.d.OpenCopier(queue, log, c.Bus); err != nil {
		return nil, err
	}
	const poll = 60
	if k.loop, err = c.Bus.Core().Add(cpu.LoopSpec{Name: "ceio", Poll: poll}, func(*cpu.Core) bool {
		return k.callWaits()
	}); err != nil {
		return nil, err
	}
	ring := k.copier.Ring()
	if _, err := k.loop.WatchAnd(ring.CQ, ring.CQBytes(), func(uint64, int) {
		for _, p := range k.paths {
			p.c.Loop.Wake()
		}
	}); err != nil {
		return nil, err
	}
	s.cores[c.Bus] = k
	return k, nil
}

// openFlow opens a flow with an account.
func (s *Server) openFlow(p *path) error {
	fast, err1 := p.c.TakeRxQueue()
	slow, err2 := p.c.TakeRxQueue()
	rule, err3 := p.c.TakeRule()
	key, err4 := p.c.TakeKey()
	account, err5 := p.c.TakeAccount()
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	p.rule = rule
	if err := p.openOrder(); err != nil {
		return err
	}
	return s.openRings(p, device.FlowConfig{Flow: p.id, Rule: rule, Match: p.c.Match, Account: account, Fast: fast,
		Slow: slow, Key: key})
}

// share adds a path to the shared ring, which it opens for the first path.
func (s *Server) share(p *path) error {
	for _, other := range s.hub.paths {
		if other.core != p.core {
			return errors.New("flows beyond the accounts share a ring: want all of them on one core")
		}
		if other.c.Buffers != p.c.Buffers {
			return fmt.Errorf("buffers %+v: want %+v, those of %s, as flows beyond the accounts share a ring",
				p.c.Buffers, other.c.Buffers, other.c.Name)
		}
	}
	if s.flows[p.id] != nil {
		s.hub.add(p)
		return nil
	}
	if err := s.hub.open(p.c.Driver); err != nil {
		return err
	}
	s.hub.add(p)
	slow, err1 := p.c.TakeRxQueue()
	key, err2 := p.c.TakeKey()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return s.openRings(p, device.FlowConfig{Flow: p.id, Slow: slow, Key: key})
}

// openRings opens the rings of a path, and makes its loop watch them.
func (s *Server) openRings(p *path, c device.FlowConfig) error {
	c.Bus, c.Copier, c.Host, c.Repost = p.c.Bus, p.core.copier, p.c.Host, p.c.Repost
	c.Bytes, c.Split, c.HdrBytes = p.c.Buffers.Bytes, p.c.Buffers.Split, p.c.Buffers.HeaderBytes
	if p.id < s.c.Spec.Flows {
		c.SlowBytes = s.c.Spec.SlowBytes
	}
	f, err := s.d.Open(c)
	if err != nil {
		return err
	}
	for _, r := range f.Rings() {
		if _, err := p.c.Loop.Watch(r.CQ, r.CQBytes()); err != nil {
			return err
		}
	}
	s.flows[p.id] = f
	return nil
}

// after implements device.Config.After.
func (s *Server) after(flow int, f func()) {
	for _, p := range s.paths {
		if p.id == flow {
			k := p.core
			at := k.bus.Core().Now() + (nicspec.VisibleCycles+1)*s.c.Period
			k.waits.Push(wait{at, f})
			k.loop.WakeAt(at)
			return
		}
	}
}

// callWaits calls the entries of `waits` whose time has come, and checks the flows whose waits have a limit.
func (k *hostCore) callWaits() (worked bool) {
	k.loop.Disarm()
	for k.waits.Len() > 0 && k.waits.Front().at <= k.bus.Core().Now() {
		k.waits.Pop().f()
		worked = true
	}
	if k.waits.Len() > 0 {
		k.loop.WakeAt(k.waits.Front().at)
	}
	for _, p := range k.paths {
		k.limit(p.id)
		if p.Err() != nil {
			p.c.Loop.Wake()
		}
	}
	return worked
}

// limit checks what a flow waits for, and wakes the core when that takes too long.
func (k *hostCore) limit(flow int) {
	m := k.s.d.Manager()
	until := m.WaitsUntil(flow)
	if until == manager.Never {
		return
	}
	if now := Ps(k.bus.Core().Now()); now >= until {
		m.CheckWaits(now, flow)
	} else {
		k.loop.WakeAt(simcore.Ps(until))
	}
}
