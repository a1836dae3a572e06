package path

import (
	"errors"
	"fmt"

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
	cores map[*corebus.Bus]*core
	paths []*path
	flows []*device.Flow   // by number of the manager
	hub   map[uint16]*path // paths of the shared ring, by UDP port
}

// core is a core of the host that runs flows.
type core struct {
	bus    *corebus.Bus
	copier *device.Copier
	loop   *cpu.Loop // timers: calls each entry of waits when its time has come
	waits  fifo.Queue[wait]
	paths  []*path
}

// wait is a call at a time.
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
	return &Server{c: c, cores: map[*corebus.Bus]*core{}, flows: make([]*device.Flow, c.Spec.Flows+1),
		hub: map[uint16]*path{}}, nil
}

// Manager returns the manager, for its statistics; nil before the first path is open.
func (s *Server) Manager() *manager.Manager {
	if s.d == nil {
		return nil
	}
	return s.d.Manager()
}

// Open implements hostnet.Opener: it opens the path of a flow.
func (s *Server) Open(c hostnet.PathConfig) (hostnet.Path, error) {
	p, err := s.open(c)
	if err != nil {
		return nil, fmt.Errorf("ceio: flow %d: %w", c.Flow, err)
	}
	return p, nil
}

func (s *Server) open(c hostnet.PathConfig) (*path, error) {
	if c.Buffers.Split > 0 {
		return nil, errors.New("split buffers: not supported: want whole frames in a buffer")
	}
	if err := s.begin(&c); err != nil {
		return nil, err
	}
	if n := 1 << c.Buffers.Log; n != s.c.Spec.FastSlots {
		return nil, fmt.Errorf("%d receive buffers: want %d, as the node's first flow", n, s.c.Spec.FastSlots)
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
	s.c.Spec.FastSlots = 1 << c.Buffers.Log
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
func (s *Server) core(c *hostnet.PathConfig) (*core, error) {
	if k := s.cores[c.Bus]; k != nil {
		return k, nil
	}
	k := &core{bus: c.Bus}
	queue, err := c.TakeTxQueue()
	if err != nil {
		return nil, err
	}
	const log = 8 // 64 flows with 4 copies each
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
	return s.openRings(p, device.FlowConfig{Flow: p.id, Rule: rule, Match: p.c.Match, Account: account, Fast: fast,
		Slow: slow, Key: key})
}

// share adds a path to the shared ring, and opens it for the first one.
func (s *Server) share(p *path) error {
	port := p.c.Match.Value.DstPort
	if other := s.hub[port]; other != nil {
		return fmt.Errorf("UDP port %d: flow %d on the shared ring has it: want another port", port, other.c.Flow)
	}
	for _, other := range s.hub {
		if other.core != p.core {
			return errors.New("flows beyond the accounts share a ring: want all of them on one core")
		}
	}
	s.hub[port] = p
	if s.flows[p.id] != nil {
		return nil
	}
	slow, err1 := p.c.TakeRxQueue()
	key, err2 := p.c.TakeKey()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return s.openRings(p, device.FlowConfig{Flow: p.id, Slow: slow, Key: key})
}

// openRings opens the rings of a path, and makes its loop watch them.
func (s *Server) openRings(p *path, c device.FlowConfig) error {
	c.Bus, c.Copier, c.Host, c.Bytes, c.Repost = p.c.Bus, p.core.copier, p.c.Host, p.c.Buffers.Bytes, p.c.Repost
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
			k.loop.WakeAt(k.waits.Front().at)
			return
		}
	}
}

// callWaits calls what is due.
func (k *core) callWaits() (worked bool) {
	k.loop.Disarm()
	for k.waits.Len() > 0 && k.waits.Front().at <= k.bus.Core().Now() {
		k.waits.Pop().f()
		worked = true
	}
	if k.waits.Len() > 0 {
		k.loop.WakeAt(k.waits.Front().at)
	}
	return worked
}
