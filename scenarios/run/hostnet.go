package run

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/scenarios/run/hostnet"
	"nictwin/scenarios/run/place"
	"nictwin/scenarios/run/probe/classes"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/apps/kind"
	"nictwin/stack/flexins/node"
)

// hostKinds lists the kinds of stack on the cores of a host, whose workloads are over UDP.
var hostKinds = func() (names []string) {
	for _, k := range hostnet.Kinds {
		names = append(names, string(k))
	}
	return names
}()

// onHost reports whether a stack runs on the cores of a host, over UDP.
func (x *StackSpec) onHost() bool { return slices.Contains(hostKinds, string(x.Kind)) }

// overUDP reports whether the servers talk over UDP, so that no stack has verbs.
func (s *Spec) overUDP() bool {
	return slices.ContainsFunc(s.Stacks, func(x StackSpec) bool { return x.onHost() })
}

// validateVerbs rejects workloads over UDP, which stacks with verbs do not play.
func (s *Spec) validateVerbs() error {
	var errs []error
	for i, w := range s.AllWorkloads() {
		if w.Transport == apps.UDP {
			errs = append(errs, field.Errorf(s.workloadPath(i)+".transport", "%s: %v is %s: want another, or stacks "+
				"of kind %s", w.Transport, field.Path("stacks[0].kind"), s.Stacks[0].Kind, kind.Either(hostKinds)))
		}
	}
	return errors.Join(errs...)
}

// validateNet checks stacks over UDP against workloads and board.
func (s *Spec) validateNet(rack *board.RackSpec) error {
	var errs []error
	for i := range s.Stacks {
		x, at := &s.Stacks[i], field.Path(fmt.Sprintf("stacks[%d]", i))
		if !x.onHost() {
			errs = append(errs, field.Errorf(at+".kind", "%q: another server talks over UDP: want %s", x.Kind,
				kind.Either(hostKinds)))
			continue
		}
		if !reflect.DeepEqual(x.FlexiNS, node.DefaultSpec()) {
			errs = append(errs, field.Errorf(at+".flexins", ": stack %s has other options: want none, or kind %s",
				x.Kind, StackFlexiNS))
		}
		errs = append(errs, x.validateRNIC(at), field.Under(at, x.host().Validate()))
	}
	for i, w := range s.AllWorkloads() {
		if w.Transport != apps.UDP {
			errs = append(errs, field.Errorf(s.workloadPath(i)+".transport", "%s: stacks of kind %s have no queue "+
				"pairs: want %s", w.Transport, kind.Either(hostKinds), apps.UDP))
		}
	}
	errs = append(errs, s.validateNetFaults())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	net := s.net(rack.Servers)
	if err := net.Check(); err != nil {
		return err
	}
	for i := range rack.Servers {
		if err := s.validateMemory(i, &rack.Servers[i]); err != nil {
			return err
		}
	}
	return nil
}

// validateNetFaults rejects faults that stacks over UDP do not survive, or never see.
func (s *Spec) validateNetFaults() error {
	var errs []error
	if len(s.Faults.PCIe) > 0 {
		errs = append(errs, field.Errorf("faults.pcie", ": stacks of kind %s do not survive reads that fail: want none",
			kind.Either(hostKinds)))
	}
	if w := s.Faults.Wire; w != nil {
		const want = "strikes RoCE packets alone, and stacks of kind %s send none: want"
		if w.Chances != (inject.Chances{}) {
			errs = append(errs, field.Errorf("faults.wire.chances", ": it "+want+" rules of class %s",
				kind.Either(hostKinds), inject.ClassOther))
		}
		for i := range w.Rules {
			if r := &w.Rules[i]; r.Class != inject.ClassOther {
				errs = append(errs, field.Errorf(field.Path(fmt.Sprintf("faults.wire.rules[%d].class", i)), "%q: "+want+
					" %s", r.Class, kind.Either(hostKinds), inject.ClassOther))
			}
		}
	}
	return errors.Join(errs...)
}

// host returns the stack in the form of package hostnet.
func (x *StackSpec) host() *hostnet.Stack {
	return &hostnet.Stack{Kind: hostnet.Kind(x.Kind), CEIO: x.CEIO, ShRing: x.ShRing,
		HostCC: x.HostCC, Node: x.Host}
}

// net returns what package hostnet plays on a board.
func (s *Spec) net(servers []board.ServerSpec) *hostnet.Scenario {
	n := &hostnet.Scenario{Workloads: s.AllWorkloads(), Path: s.workloadPath, V6: s.Addresses == IPv6}
	for i := range servers {
		n.Servers = append(n.Servers, hostnet.Server{Stack: s.stack(i).host(), Card: &servers[i].Cards[0],
			Path: field.Path(fmt.Sprintf("stacks[%d]", min(i, len(s.Stacks)-1)))})
	}
	return n
}

// busyNet reports whether a stack over UDP uses a core of a server's first socket, or of its Arm.
func (s *Spec) busyNet(server int, servers []board.ServerSpec, endpoint, core int) bool {
	cores, arm := s.net(servers).Busy(server)
	if endpoint == nicspec.EndpointHost {
		return slices.Contains(cores, core)
	}
	return arm && core == 0
}

// openNet creates the flows of a case over UDP.
func (w *world) openNet() {
	if !w.c.overUDP() {
		return
	}
	c := hostnet.Config{Workloads: w.workloads, Rack: w.rack, Specs: w.spec.Servers, V6: w.c.Addresses == IPv6,
		Lossy: w.c.Expect.Lost.AtMost > 0, Cables: hostnet.CablesOf(&w.spec.Network),
		Now: func() hostnet.Ps { return hostnet.Ps(w.engine.Now()) }}
	for i := range w.spec.Servers {
		c.Stacks = append(c.Stacks, w.c.stack(i).host())
	}
	w.net = hostnet.New(c)
}

// openStack opens the stack of a server.
func (w *world) openStack(server int) (Running, error) {
	if w.net == nil {
		return stacks[w.c.stack(server).Kind].open(w, server)
	}
	n, err := w.net.Open(server, place.HostFrom+place.HostBytes-stackFrom)
	if err != nil {
		return nil, err
	}
	w.setMemory(server, classes.Memory{Uses: n.Driver().Uses(), Bus: n.Driver().BusAddress})
	if w.watching != nil {
		w.watching.Stack[server] = n.Counters()
	}
	return n, w.await(fmt.Sprintf("the NIC of server %s to be set up", w.rack.Servers[server].Name), n.Ready)
}

// opener returns what opens the applications of a workload.
func (w *world) opener() func(i int) (workload.Run, error) {
	if w.net != nil {
		return func(i int) (workload.Run, error) { return w.net.Run(i), nil }
	}
	sides := w.sides()
	return func(i int) (workload.Run, error) { return apps.New(w.workloads.Seeded(i), sides[i], w.await) }
}

var (
	_ Running  = (*hostnet.Node)(nil)
	_ counting = (*hostnet.Node)(nil)
)
