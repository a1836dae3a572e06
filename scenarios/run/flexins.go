package run

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/sim/field"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/probe/classes"
	"nictwin/stack/apps"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
	"nictwin/stack/offload"
	"nictwin/stack/verbs"
)

// flexins is the FlexiNS stack of a server, on its card and its host.
type flexins struct {
	node   *node.Node
	cores  []*host.Core // host core of each application
	ports  int
	card   *board.Card
	polls  bool       // data cores poll records by DMA, so that the card never becomes idle
	before data.Stats // statistics when Settled was called last
}

// fitsFlexiNS checks that a card has what the stack needs: a NIC that follows docs/nic.md, and cores on both sides.
func fitsFlexiNS(s *StackSpec, c *board.CardSpec) error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(contract(c), "kind", "%s: a device of kind %s is not the contract's NIC: want %s, %s or %s", s.Kind,
		c.Device.Kind, board.DeviceModel, board.DeviceRTL, board.DeviceAddress)
	cores := c.Switch != nil && c.Switch.Arm.Host != nil && c.Switch.Host.Host != nil
	bad(cores, "kind", "%s: the board has no cores on the card and in the server: want one such as bf3-cores-pair",
		s.Kind)
	if cores {
		n := c.Switch.Arm.Host.CPU.Cores
		bad(s.FlexiNS.Notify != node.MMIO || c.Switch.HostMMIO != nil, "flexins.notify",
			"%s: the board gives cores of the host no way to Arm memory: want switch.host_mmio on its card, or %s, "+
				"%s or %s",
			node.MMIO, node.Pipe, node.DoorbellPushed, node.DoorbellPolled)
		bad(s.FlexiNS.DataCores < n, "flexins.data_cores", "%d: the card has %d cores, one of which is the control "+
			"core: want %d at most", s.FlexiNS.DataCores, n, n-1)
	}
	return errors.Join(errs...)
}

// openFlexiNS starts the stack on a server. Data cores take Arm cores from the first one on; the control core is the
// last one, and the offload engine, if any, runs on those before it. The library and each application
// share a host core, from the first one on.
func openFlexiNS(w *world, server int) (Stack, error) {
	c, spec := w.rack.Servers[server].Cards[0], &w.spec.Servers[server].Cards[0]
	options := w.c.stack(server).FlexiNS
	f := &flexins{card: c, polls: options.Notify == node.DoorbellPolled}
	bus := func(endpoint, number int, regs cpu.Registers) (*corebus.Bus, error) {
		core, err := c.Memory.Host(endpoint).Core(0, number)
		if err != nil {
			return nil, err
		}
		return corebus.New(core.Core, regs, corebus.DefaultSpec())
	}
	cfg := node.Config{Spec: options, Build: buildOf(spec, c.NIC), Limits: spec.Endpoint.Limits,
		Memory: driver.DefaultOptions().Memory}
	waits, err := spec.Waits()
	if err != nil {
		return nil, err
	}
	cfg.Timeout, cfg.Polls = waits.CplTimeout, waits.Polls
	cfg.Memory[nicspec.EndpointHost].Bytes = stackBytes - min(stackBytes, cfg.Memory[nicspec.EndpointHost].From)
	near := &cfg.Memory[nicspec.EndpointArm]
	room := w.c.Load.ArmRoom(&w.c.loaded(w.spec.Servers)[server], server)
	near.Bytes = min(near.Bytes, room-min(room, near.From))
	if c.Faults != nil {
		cfg.ReadsMayFail = func() bool { return c.Faults.Hits() > 0 }
	}
	arm := c.Root.MMIO(nicspec.RequesterArm)
	for i := range max(w.workloads.Applications(server), 1) {
		var on node.HostCore
		if on.Bus, err = bus(nicspec.EndpointHost, i, c.Host.MMIO(nicspec.RequesterHost)); err != nil {
			return nil, err
		}
		if c.HostMMIO != nil {
			if on.Window, err = bus(nicspec.EndpointHost, i, c.HostMMIO); err != nil {
				return nil, err
			}
		}
		core, err := c.Memory.Host(nicspec.EndpointHost).Core(0, i)
		if err != nil {
			return nil, err
		}
		f.cores, cfg.Hosts = append(f.cores, core), append(cfg.Hosts, on)
	}
	if cfg.Control, err = bus(nicspec.EndpointArm, spec.Switch.Arm.Host.CPU.Cores-1, arm); err != nil {
		return nil, err
	}
	if w.workloads.Serves(server) {
		for i := range options.EngineCores {
			b, err := bus(nicspec.EndpointArm, spec.Switch.Arm.Host.CPU.Cores-2-i, arm)
			if err != nil {
				return nil, err
			}
			cfg.Engines = append(cfg.Engines, b)
		}
	}
	for i := range cfg.Spec.DataCores {
		b, err := bus(nicspec.EndpointArm, i, arm)
		if err != nil {
			return nil, err
		}
		cfg.Data = append(cfg.Data, b)
	}
	for p := range cfg.Build.Ports {
		cfg.Ports = append(cfg.Ports, node.Port{MAC: macOf(server, p), GID: w.c.Addresses.gidOf(server, p)})
	}
	f.ports = cfg.Build.Ports
	if f.node, err = node.New(cfg); err != nil {
		return nil, err
	}
	d := f.node.Driver()
	w.describe(server, classes.Memory{Uses: d.Uses(), Bus: d.BusAddress}, f.depths)
	return f, w.await(fmt.Sprintf("the NIC of server %s to be set up", w.rack.Servers[server].Name), f.node.Ready)
}

func (f *flexins) Context(app int) verbs.Context { return f.node.Context(app) }
func (f *flexins) Core(app int) apps.Core        { return looping{f.cores[app].Core} }
func (f *flexins) Ports() int                    { return f.ports }
func (f *flexins) onTake(to func(qpn uint32))    { f.node.OnTake(to) }
func (f *flexins) Err() error                    { return f.node.Err() }

// Settled reports whether nothing is in flight (Stack). If data cores poll records by DMA, it compares with its
// previous call: nothing but polling may have happened since.
func (f *flexins) Settled() bool {
	if !f.polls {
		return f.node.Idle() && f.card.Idle()
	}
	now := f.node.Stats()
	now.Records, now.Copied = 0, 0
	same := now == f.before
	f.before = now
	return same && f.node.Timers() == 0
}

// Timer implements Stack: it names an armed timer of a connection.
func (f *flexins) Timer() string {
	if qpn, ok := f.node.Timer(); ok {
		return fmt.Sprintf("the retransmission timer of queue pair %d", qpn)
	}
	return ""
}

// depths returns the lengths of the stack's queues.
func (f *flexins) depths() []probe.Depth {
	d := f.node.Depths()
	rx, tx := f.node.Driver().Posted()
	return []probe.Depth{
		{Name: "receive queues, buffers posted", Length: rx}, {Name: "transmit queues, entries posted", Length: tx},
		{Name: "data cores, frames to send", Length: d.Frames}, {Name: "data cores, copies posted", Length: d.Copies},
		{Name: "data cores, copies that wait", Length: d.Waiting},
		{Name: "data cores, packets in use", Length: d.Packets},
		{Name: "data cores, completions that wait", Length: d.Completions},
		{Name: "data cores, active queue pairs", Length: d.Active},
	}
}

// Progress implements Stack: it returns a number that changes with every advance of a connection.
func (f *flexins) Progress() uint64 { return f.node.Progress() }

// engine implements offloading: it returns the offload engine, or nil.
func (f *flexins) engine() apps.Engine {
	if len(f.node.Engines()) == 0 {
		return nil
	}
	return offloaded{f.node}
}

// faults returns the handlers that the offload engines stopped because they misbehaved, engine by engine, and the
// number of further ones that are not listed (interface offloading).
func (f *flexins) faults() (list []offload.Fault, more uint64) {
	for _, e := range f.node.Engines() {
		l, m := e.Faults()
		list, more = append(list, l...), more+m
	}
	return list, more
}

// Close stops loops and timers of the stack (Stack).
func (f *flexins) Close() error {
	f.node.Close()
	f.polls = false
	return nil
}

// ReadCounters implements counting: it reads the NIC's counters, which the referee checks.
func (f *flexins) ReadCounters(done func()) error {
	f.node.Driver().ReadCounters(func(driver.Counters) { done() })
	return nil
}

var (
	_ Stack      = (*flexins)(nil)
	_ counting   = (*flexins)(nil)
	_ offloading = (*flexins)(nil)
)
