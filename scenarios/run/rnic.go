package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	rnicmodel "nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/field"
	"nictwin/scenarios/run/hardware"
	"nictwin/scenarios/run/probe/classes"
	"nictwin/scenarios/run/stats"
	"nictwin/stack/apps"
	"nictwin/stack/baseline/hostcc"
	"nictwin/stack/baseline/hostcc/rdma"
	"nictwin/stack/ceio/bypass"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
	"nictwin/stack/verbs"
)

// rnic is the stack of a server whose NIC has a hardware transport.
type rnic struct {
	contexts []*provider.Context // of the applications
	dev      *rnicverbs.Device
	cores    []apps.Core // of the applications
	card     *board.Card
	credits  *bypass.Controller // nil: queue pairs have no accounts
	hostcc   *hardware.HostCC   // nil: nobody watches the IIO buffer
}

// validateModels checks that the models of devices of kind rnic exist.
func (s *Spec) validateModels(servers []board.ServerSpec) error {
	var errs []error
	check := func(at string, d *board.DeviceSpec) {
		if d.Kind == board.DeviceRNIC && d.Model != "" && !slices.Contains(rnicmodel.PresetNames, d.Model) {
			errs = append(errs, field.Errorf(field.Path(at+".model"), "%q: want one of %s", d.Model,
				strings.Join(rnicmodel.PresetNames, ", ")))
		}
	}
	for i := range s.Devices {
		check(fmt.Sprintf("devices[%d]", i), &s.Devices[i])
	}
	for i := range servers {
		for k := range servers[i].Cards {
			c, at := &servers[i].Cards[k], fmt.Sprintf("board.servers[%d].cards[%d]", i, k)
			check(at+".device", &c.Device)
			if c.Second != nil {
				check(at+".second.device", &c.Second.Device)
			}
		}
	}
	return errors.Join(errs...)
}

func fitsRNIC(s *StackSpec, c *board.CardSpec) error {
	if c.Device.Kind != board.DeviceRNIC {
		return field.Errorf("kind", "%s: a device of kind %q has no transport of its own: want one of kind %s", s.Kind,
			c.Device.Kind, board.DeviceRNIC)
	}
	var errs []error
	nic, err := rnicmodel.Preset(c.Device.Model)
	if err == nil && s.RNIC.Validate() == nil { // validateModels and validateRNIC report what is wrong on any port
		errs = append(errs, field.Under("rnic", s.RNIC.Fits(nic.BitRate())), s.fitsAccounts(c))
	}
	return errors.Join(append(errs, s.fitsCores(c))...)
}

// fitsCores refuses options of cores where the server has none.
func (x *StackSpec) fitsCores(c *board.CardSpec) error {
	if c.Switch != nil && c.Switch.Host.Host != nil || c.Direct != nil && c.Direct.Host != nil {
		return nil
	}
	const want = "the server has no cores: want %v, or a board with cores, such as bf3-cores-pair"
	var errs []error
	usual := hardware.Default()
	if x.RNIC.Burst != 0 {
		errs = append(errs, field.Errorf("rnic.burst", "%d: "+want, x.RNIC.Burst, 0))
	}
	if x.RNIC.Core != usual.Core {
		errs = append(errs, field.Errorf("rnic.core", ": "+want, "none"))
	}
	if x.RNIC.HostCC != nil {
		errs = append(errs, field.Errorf("rnic.hostcc", ": "+want, "none"))
	}
	return errors.Join(errs...)
}

// validateRNIC checks the options of a stack's NIC with a hardware transport, which other kinds do not have.
func (x *StackSpec) validateRNIC(at field.Path) error {
	if x.Kind != StackRNIC && x.RNIC != hardware.Default() {
		return field.Errorf(at+".rnic", ": stack %s has other options: want none, or kind %s", x.Kind, StackRNIC)
	}
	return field.Under(at+".rnic", x.RNIC.Validate())
}

// openRNIC opens the verbs driver on the server's first core, and a context for each application on a core of its own.
// On a server without cores, it runs as software whose memory accesses take no time.
func openRNIC(w *world, server int) (Stack, error) {
	c, options := w.rack.Servers[server].Cards[0], &w.c.stack(server).RNIC
	regs := c.Host.MMIO(nicspec.RequesterHost)
	r := &rnic{card: c}
	buses := []driver.Bus{rootbus.Bus{Regs: regs, Memory: c.Memory}}
	if h := c.Memory.Host(nicspec.EndpointHost); h == nil {
		r.cores = []apps.Core{free{c.Memory}}
	} else {
		buses = nil
		for i := range max(w.workloads.Applications(server), 1) {
			core, err := h.Core(0, i)
			if err != nil {
				return nil, err
			}
			bus, err := corebus.New(core.Core, regs, options.Core)
			if err != nil {
				return nil, err
			}
			buses, r.cores = append(buses, bus), append(r.cores, looping{core.Core})
		}
	}
	var err error
	arena := driver.NewArena(mem.Bus(nicspec.EndpointHost, stackFrom), stackBytes)
	w.describe(server, classes.Memory{Uses: arena.Uses()}, nil)
	if r.dev, err = rnicverbs.Open(buses[0], arena); err != nil {
		return nil, err
	}
	port := verbs.PortAttr{Active: true, MaxMTU: rnicMTU, ActiveMTU: rnicMTU, MaxMessage: rnicspec.MaxMessage,
		MAC: macOf(server, 0), GID: w.c.Addresses.gidOf(server, 0)}
	set := rnicspec.SetPort{MAC: port.MAC, V6: w.c.Addresses == IPv6, IP: port.GID}
	if ip := ipOf(server, 0); !set.V6 {
		set.IP = [16]byte(append(ip[:], make([]byte, len(set.IP)-len(ip))...))
	}
	r.dev.SetPort(set)
	if nic, ok := c.NIC.(interface{ SetCongestion(rnicmodel.Congestion) }); ok {
		nic.SetCongestion(options.Congestion())
	}
	first, err := provider.New(r.dev, provider.Spec{Ports: []verbs.PortAttr{port}, MTU: rnicMTU,
		Burst: options.Burst})
	if err != nil {
		return nil, err
	}
	r.contexts = append(r.contexts, first)
	if err := errors.Join(r.openAccounts(&options.Accounts), r.openHostCC(w, server)); err != nil {
		return nil, err
	}
	for _, bus := range buses[1:] {
		r.contexts = append(r.contexts, first.On(bus))
	}
	return r, nil
}

func (r *rnic) Context(app int) verbs.Context { return r.contexts[app] }
func (r *rnic) Core(app int) apps.Core        { return r.cores[app] }
func (r *rnic) Ports() int                    { return 1 }

// Err returns the first error of the driver or of HostCC (Stack).
func (r *rnic) Err() error {
	if r.hostcc == nil {
		return r.dev.Err()
	}
	return errors.Join(r.dev.Err(), r.hostcc.Err())
}

// Close ends the control loop of HostCC (Stack).
func (r *rnic) Close() error {
	if r.hostcc != nil {
		r.hostcc.Close()
	}
	return nil
}

// Settled reports whether nothing is in flight (Stack). If the NIC cannot report that it is idle, the stack is settled
// once no event is pending.
func (r *rnic) Settled() bool {
	nic, ok := r.card.NIC.(interface{ Idle() bool })
	return ok && nic.Idle() && r.card.Idle()
}

// Timer names an armed timer of a connection (Stack).
func (r *rnic) Timer() string {
	if nic, ok := r.card.NIC.(interface{ Timer() string }); ok {
		return nic.Timer()
	}
	return ""
}

// Progress returns a number that changes with every advance of a connection (Stack).
func (r *rnic) Progress() uint64 {
	if nic, ok := r.card.NIC.(interface{ Progress() uint64 }); ok {
		return nic.Progress()
	}
	return 0
}

// free is the core of a server without simulated cores: it accesses host memory in no simulated time.
type free struct{ memory *board.Memory }

func (f free) Load(addr uint64, b []byte) error  { return f.memory.Read(addr, b) }
func (f free) Store(addr uint64, b []byte) error { return f.memory.Write(addr, b) }

var _ Stack = (*rnic)(nil)

// slowFrom is the address in the memory of a card at which the memory for packets without a credit begins.
const slowFrom = 16 << 20

// fitsAccounts checks that a card has memory for packets without a credit.
func (x *StackSpec) fitsAccounts(c *board.CardSpec) error {
	a := &x.RNIC.Accounts
	switch {
	case a.Flows == 0:
		return nil
	case c.Switch == nil:
		return field.Errorf("rnic.accounts.flows", "%d: packets without a credit wait in the memory of a card, and "+
			"the board has no card with one: want 0, or one such as bf3-cores-pair", a.Flows)
	}
	has := placed(&board.ServerSpec{Cards: []board.CardSpec{*c}}).ArmEnd(apps.ArmPlace)
	if slowFrom+a.SlowBytes() > has {
		return field.Errorf("rnic.accounts.log_slots", "%d: %d flows with so many packets of %d B each take %d B of "+
			"the card's memory, which has %d: want fewer", a.LogSlots, a.Flows, bypass.SlotBytes, a.SlowBytes(),
			has-slowFrom)
	}
	return nil
}

// validateSlowMemory checks that loads of a card's cache leave the memory for packets without a credit alone.
func (s *Spec) validateSlowMemory(server int, servers []board.ServerSpec) error {
	x := s.stack(server)
	a := &x.RNIC.Accounts
	if x.Kind != StackRNIC || a.Flows == 0 {
		return nil
	}
	has := s.Load.ArmRoom(&s.loaded(servers)[server], server)
	if slowFrom+a.SlowBytes() <= has {
		return nil
	}
	return field.Errorf(field.Path(fmt.Sprintf("stacks[%d].rnic.accounts.log_slots", min(server, len(s.Stacks)-1))),
		"%d: %d flows with so many packets of %d B each take %d B of the card's memory, of which %v leaves %d: want "+
			"fewer, or less there", a.LogSlots, a.Flows, bypass.SlotBytes, a.SlowBytes(), field.Path("load"),
		has-min(has, slowFrom))
}

// validateAccounts checks that a stack's accounts suffice for its workloads, whose messages must be noticed by their
// receiver, since credits return then. at is the field with the stack.
func (s *Spec) validateAccounts(at field.Path, x *StackSpec, servers int) error {
	a := &x.RNIC.Accounts
	if x.Kind != StackRNIC || a.Flows == 0 {
		return nil
	}
	at += ".rnic.accounts.flows"
	var errs []error
	used := make([]int, servers) // queue pairs with an account, by server
	for i, w := range s.AllWorkloads() {
		pairs := 0
		for n := range servers {
			if x == s.stack(n) && w.Transport == apps.RC {
				used[n] += w.QueuePairsOn(n)
				pairs += w.QueuePairsOn(n)
			}
		}
		if pairs > 0 && (w.Kind == apps.Write || w.Kind == apps.Ring) {
			errs = append(errs, field.Errorf(s.workloadPath(i)+".kind", "%s: with %v credits return when the "+
				"receiver has taken a message, and it does not notice these: want %s", w.Kind, at, apps.WriteImm))
		}
	}
	if n := slices.IndexFunc(used, func(n int) bool { return n > a.Flows }); n >= 0 {
		errs = append(errs, field.Errorf(at, "%d: server %d has %d queue pairs: want that many or more", a.Flows, n,
			used[n]))
	}
	if slices.Max(used) == 0 {
		errs = append(errs, field.Errorf(at, "%d: queue pairs of RC have accounts, and no server with this stack has "+
			"one: want 0, or a workload over %s", a.Flows, apps.RC))
	}
	return errors.Join(errs...)
}

// openAccounts gives the queue pairs of an RDMA NIC credits, if its options have accounts.
func (r *rnic) openAccounts(s *bypass.Spec) (err error) {
	if s.Flows == 0 {
		return nil
	}
	if r.credits, err = bypass.New(r.dev, *s, mem.Bus(nicspec.EndpointArm, slowFrom)); err == nil {
		r.contexts[0].SetAccounts(r.credits)
	}
	return err
}

// creditRows returns what the servers with accounts of an RDMA NIC did.
func (w *world) creditRows() (list []stats.Credits) {
	for i, s := range w.stacks {
		r, ok := s.(*rnic)
		if !ok || r.credits == nil {
			continue
		}
		x := r.credits.Stats()
		row := stats.Credits{Server: w.rack.Servers[i].Name, Credits: w.c.stack(i).RNIC.Accounts.Credits,
			Exhausted: x.Exhausted, Drains: x.Drains, Copies: x.Copies, Resumes: x.Resumes}
		if n, ok := r.card.NIC.(interface {
			Counter(rnicspec.Counter) uint64
		}); ok {
			row.Fast, row.Slow = n.Counter(rnicspec.CntFast), n.Counter(rnicspec.CntSlow)
		}
		list = append(list, row)
	}
	return list
}

// watchesHost reports whether a core of the host runs the control loop of HostCC over an RDMA NIC.
func (x *StackSpec) watchesHost() bool { return x.Kind == StackRNIC && x.RNIC.HostCC != nil }

// validateWatch rejects the options of HostCC over UDP for a stack with verbs.
func (x *StackSpec) validateWatch(at field.Path) error {
	if x.HostCC == hostcc.DefaultSpec() {
		return nil
	}
	return field.Errorf(at+".hostcc", ": stack %s is not over UDP: want none, or %v with kind %s", x.Kind,
		field.Path("rnic.hostcc"), StackRNIC)
}

// validateMarks rejects marks by an RDMA NIC that slow down nobody: where no server with the stack has RC queue pairs
// to a server whose NIC has congestion control.
func (s *Spec) validateMarks(at field.Path, x *StackSpec) error {
	if !x.watchesHost() || x.RNIC.HostCC.Mark != rdma.MarkRegister || x.RNIC.CC.Kind == hardware.None {
		return nil
	}
	slows := func(n, peer int) bool { return x == s.stack(n) && s.stack(peer).RNIC.CC.Kind != hardware.None }
	for _, w := range s.AllWorkloads() {
		for _, p := range w.Pairs() {
			if w.Transport == apps.RC && (slows(p[0], p[1]) || slows(p[1], p[0])) {
				return nil
			}
		}
	}
	return field.Errorf(at+".rnic.hostcc.mark", "%s: no server with this stack has packets that can be marked, those "+
		"of RC queue pairs to a server with congestion control: want %s, or a workload over %s to one with %v",
		rdma.MarkRegister, rdma.MarkNone, apps.RC, field.Path("rnic.cc.kind"))
}

// validateControlCore checks that the control loop of HostCC over an RDMA NIC has a core of its own: the last one of
// the first socket.
func (s *Spec) validateControlCore(server int, c *board.CardSpec) error {
	machine := hostOf(c)
	if !s.stack(server).watchesHost() || machine == nil {
		return nil
	}
	n := max(s.AllWorkloads().Applications(server), 1)
	if n < machine.CPU.Cores {
		return nil
	}
	return field.Errorf(field.Path(fmt.Sprintf("stacks[%d].rnic.hostcc", min(server, len(s.Stacks)-1))), ": the first "+
		"socket of server %d has %d cores, of which applications and driver take %d, and the control loop needs one "+
		"beside them: want none, fewer applications, or a board with more cores", server, machine.CPU.Cores, n)
}

// openHostCC starts the control loop of HostCC, if the options have one.
func (r *rnic) openHostCC(w *world, server int) (err error) {
	x := w.c.stack(server)
	if !x.watchesHost() {
		return nil
	}
	var flows []*cpu.Core
	for _, c := range r.cores {
		flows = append(flows, c.(looping).Core)
	}
	last := hostOf(&w.spec.Servers[server].Cards[0]).CPU.Cores - 1
	if r.hostcc, err = hardware.OpenHostCC(*x.RNIC.HostCC, r.card, last, r.dev, flows); err != nil {
		return err
	}
	if w.watching != nil {
		w.watching.Stack[server] = r.hostcc.Counters(w.rack.Servers[server].Name)
	}
	return nil
}

// hostControls returns what the control loops of HostCC over RDMA NICs did.
func (w *world) hostControls() (list []stats.HostCC) {
	for i, s := range w.stacks {
		if r, ok := s.(*rnic); ok && r.hostcc != nil {
			list = append(list, r.hostcc.Row(w.rack.Servers[i].Name))
		}
	}
	return list
}
