package hostnet

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/ceio/manager"
	"nictwin/stack/ceio/path"
	"nictwin/stack/hostnet"
)

// Scenario holds workloads over UDP and the servers between which they talk.
type Scenario struct {
	Workloads workload.List
	Path      func(workload int) field.Path // field of a workload
	Servers   []Server
	V6        bool
}

// Server is a server with its stack.
type Server struct {
	Stack *Stack
	Path  field.Path // field of the stack
	Card  *board.CardSpec
}

// Validate returns every error of the stack's own fields, each a field.Error.
func (s *Stack) Validate() error {
	errs := []error{field.Under("hostnet", s.Node.Validate()), s.validateRival()}
	if s.Kind == CEIO {
		if n := s.Node.BufferBytes; n%nicspec.LineBytes != 0 {
			errs = append(errs, field.Errorf("hostnet.buffer_bytes", "%d: slow packets are copied into buffers one "+
				"behind another: want a multiple of %d", n, nicspec.LineBytes))
		}
		return errors.Join(append(errs, field.Under("ceio", s.CEIO.Validate()))...)
	}
	if s.CEIO != path.DefaultSpec() {
		errs = append(errs, field.Errorf("ceio", ": stack %s has no credits: want none, or kind %s", s.Kind, CEIO))
	}
	return errors.Join(errs...)
}

// Check returns every error of the scenario, each a field.Error.
func (s *Scenario) Check() error {
	flows := flowsOf(s.Workloads)
	if n := len(flows); n > maxFlows {
		f := &flows[maxFlows] // the first one too many
		return field.Errorf(s.Path(f.workload)+".queue_pairs", "%d: the workloads have %d flows between all servers: "+
			"want %d at most", f.spec.QueuePairs, n, maxFlows)
	}
	var errs []error
	for i, w := range s.Workloads {
		errs = append(errs, s.checkRoles(w, s.Path(i)))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range s.Servers {
		x := check{Scenario: s, Server: &s.Servers[i], number: i}
		for k := range flows {
			if f := &flows[k]; f.ends[0] == i || f.ends[1] == i {
				x.flows = append(x.flows, f)
			}
		}
		if len(x.flows) == 0 {
			errs = append(errs, field.Errorf("board", ": server %d takes part in no workload: want fewer servers, or "+
				"it in one", i))
			continue
		}
		errs = append(errs, x.all())
	}
	return errors.Join(errs...)
}

// maxFlows is the number of UDP ports from firstPort on, rounded down to a power of two.
const maxFlows = 1 << 15

// checkRoles checks that clients and servers of a workload have stacks for their role.
func (s *Scenario) checkRoles(w *workload.Spec, at field.Path) error {
	var errs []error
	for _, n := range w.From {
		if x := &s.Servers[n]; x.Stack.Kind != UDP {
			errs = append(errs, field.Errorf(at+".from", "%d: %v of that server is %s, which asks "+
				"nothing: want a server with %s", n, x.Path+".kind", x.Stack.Kind, UDP))
		}
	}
	for _, n := range w.To {
		if x := &s.Servers[n]; !x.Stack.Kind.Serves() {
			errs = append(errs, field.Errorf(at+".to", "%d: %v of that server is %s, which answers "+
				"nothing: want a server with %s", n, x.Path+".kind", x.Stack.Kind, servingKinds()))
		}
	}
	return errors.Join(errs...)
}

// check collects the errors of one server and its flows.
type check struct {
	*Scenario
	*Server
	number int
	flows  []*flow
	errs   []error
}

func (c *check) bad(ok bool, path field.Path, format string, a ...any) {
	if !ok {
		c.errs = append(c.errs, field.Errorf(path, format, a...))
	}
}

// at returns the field of a flow's workload.
func (c *check) at(f *flow) field.Path { return c.Scenario.Path(f.workload) }

// all runs every check of the server and returns the errors.
func (c *check) all() error {
	if c.board(); len(c.errs) > 0 {
		return field.Against(errors.Join(c.errs...), "board", "devices")
	}
	c.buffers()
	c.held()
	if c.Stack.Kind == CEIO {
		c.accounts()
		c.batch()
	}
	switch {
	case len(c.errs) > 0:
	case c.Stack.Kind == ShRing:
		c.sharedResources()
	default:
		c.resources()
	}
	return errors.Join(c.errs...)
}

// coresOf returns the cores of a host's first socket; 0: the board has none.
func coresOf(c *board.CardSpec) int {
	switch {
	case c.Switch != nil && c.Switch.Host.Host != nil:
		return c.Switch.Host.Host.CPU.Cores
	case c.Direct != nil && c.Direct.Host != nil:
		return c.Direct.Host.CPU.Cores
	}
	return 0
}

// buildOf returns the sizes and parts of a card's NIC. Callers must not use its ports and stream widths.
func buildOf(c *board.CardSpec) nicspec.Build {
	if c.Build != nil {
		return *c.Build
	}
	return nicspec.DefaultBuild()
}

// board checks what the stack needs of the server's board and NIC.
func (c *check) board() {
	s, at, b := c.Stack, c.Server.Path+".kind", buildOf(c.Card)
	c.bad(c.Card.Device.Kind != board.DeviceRNIC, at, "%s: a device of kind %s is not the contract's NIC: want %s, %s "+
		"or %s", s.Kind, c.Card.Device.Kind, board.DeviceModel, board.DeviceRTL, board.DeviceAddress)
	c.bad(coresOf(c.Card) > 0, at, "%s: the board has no cores in the server: want one such as ce-pair", s.Kind)
	c.bad(s.Kind != HostCC || coresOf(c.Card) != 1, at, "%s: the server has one core, and its control loop needs one "+
		"beside those of flows: want two or more", s.Kind)
	c.marks()
	if s.Kind != CEIO {
		return
	}
	c.bad(c.Card.Switch != nil, at, "%s: slow packets wait in the memory of a card, and the board has no card with "+
		"one: want one such as ce-pair", s.Kind)
	c.bad(b.Has(nicspec.PartAccounts), at, "%s: the build of the server's NIC has no part accounts: want one with it, "+
		"or %s", s.Kind, DDIO)
	c.bad(b.Has(nicspec.PartCopy), at, "%s: slow packets are copied by the NIC, whose build has no part copy: want "+
		"one with it, or %s", s.Kind, DDIO)
	c.bad(s.CEIO.Controller != manager.ControlArm || c.Card.Switch == nil || c.Card.Switch.Arm.Host != nil,
		c.Server.Path+".ceio.controller", "%s: the card has no cores: want %s, or a board such as ce-pair",
		manager.ControlArm, manager.ControlNIC)
}

// buffers checks that receive buffers hold the frames.
func (c *check) buffers() {
	longest, of := 0, c.flows[0]
	for i, f := range c.flows {
		n, served := f.frames(c.V6)
		if c.Stack.Kind.Serves() {
			n = served
			if c.Stack.splits(f, i) {
				n = 0 // its buffers fit its packets
			}
		}
		if n > longest {
			longest, of = n, f
		}
	}
	c.bad(longest <= c.Stack.Node.BufferBytes, c.Server.Path+".hostnet.buffer_bytes", "%d: frames of %v have up to "+
		"%d B: want that or more", c.Stack.Node.BufferBytes, c.at(of), longest)
	c.slowBuffers()
	c.bad(longest <= nicspec.FrameMax, c.at(of)+".sizes", "%d: its frames have %d B: want %d at most",
		of.spec.Sizes[0], longest, nicspec.FrameMax)
}

// slowBuffers checks that buffers for slow packets of a length of their own hold the frames, and that a flow has some.
func (c *check) slowBuffers() {
	n := c.Stack.CEIO.SlowBytes
	if c.Stack.Kind != CEIO || n == 0 {
		return
	}
	longest, of := 0, c.flows[0]
	for i, f := range c.flows {
		if _, served := f.frames(c.V6); served > longest && !c.Stack.beyond(i) && !c.Stack.splits(f, i) {
			longest, of = served, f
		}
	}
	at := c.Server.Path + ".ceio.slow_bytes"
	c.bad(longest > 0, at, "%d: slow packets of chunks, whose headers are split off, have other buffers, and server "+
		"%d has an account for no other flow: want none", n, c.number)
	c.bad(longest <= n, at, "%d: frames of %v have up to %d B: want that or more, or 0", n, c.at(of), longest)
}

// splits reports whether the NIC splits the packets of a server's n-th flow, so that payloads land one behind another.
// It does not for flows that share a ring, since their payloads would alternate.
func (s *Stack) splits(f *flow, n int) bool {
	return f.spec.Kind == apps.Chunks && s.Kind.Serves() && !s.beyond(n) && s.Kind != ShRing
}

// held checks that the buffers last for the packets that applications hold until a message is whole.
func (c *check) held() {
	if !c.Stack.Kind.Serves() {
		return
	}
	if c.Stack.Kind == ShRing {
		c.heldTogether()
		return
	}
	n, shared, last := &c.Stack.Node, 0, (*flow)(nil)
	for i, f := range c.flows {
		held := f.held()
		if held == 1 {
			continue
		}
		if c.Stack.beyond(i) {
			shared, last = shared+held, f
		}
		if i > 0 && c.flows[i-1].workload == f.workload {
			continue // flows of one workload are alike: report the first only
		}
		c.bad(2*held <= 1<<n.LogReceive, c.Server.Path+".hostnet.log_receive", "%d: the server holds %d packets of %v "+
			"in its %d buffers: want buffers for twice as many, or fewer chunks by depth", n.LogReceive, held, c.at(f),
			1<<n.LogReceive)
		if !c.Stack.beyond(i) {
			c.lands(held, string(c.at(f)))
		}
	}
	if shared > 0 {
		c.lands(shared, fmt.Sprintf("flows that share a ring, the last one of %v", c.at(last)))
	}
}

// lands checks that applications hold half of the landing buffers at most: a receive call waits for up to the other
// half.
func (c *check) lands(held int, of string) {
	n := c.Stack.CEIO.Landing
	c.bad(c.Stack.Kind != CEIO || 2*held <= n, c.Server.Path+".ceio.landing", "%d: the server holds %d packets of %s, "+
		"which may all have come slow: want %d or more, or fewer chunks by depth", n, held, of, 2*held)
}

// accounts checks the flows that CEIO has no account for.
func (c *check) accounts() {
	s, n := &c.Stack.CEIO, len(c.flows)
	if n <= s.Flows {
		return
	}
	if s.Accounts == manager.AccountsExclusive {
		want := fmt.Sprintf("want %v of that many", c.Server.Path+".ceio.flows")
		if n > manager.MaxFlows {
			want = fmt.Sprintf("a NIC has %d accounts: want fewer flows", manager.MaxFlows)
		}
		c.bad(false, c.Server.Path+".ceio.accounts", "%s: server %d has %d flows and accounts for %d: %s, or %s",
			s.Accounts, c.number, n, s.Flows, want, manager.AccountsShared)
		return
	}
	ports := map[uint16]*flow{}
	for _, f := range c.flows[s.Flows:] {
		_, port := f.ports()
		if first := ports[port]; first != nil {
			c.bad(false, c.at(f)+".kind", "%s: flows of server %d beyond its %d accounts share a ring, which tells "+
				"them apart by UDP port, and those of VXLAN have one: want accounts for them (%v)", f.spec.Kind,
				c.number, s.Flows, c.Server.Path+".ceio.flows")
			return
		}
		ports[port] = f
	}
}

// batch checks that a flow gives credits back before it has used up its share.
func (c *check) batch() {
	s := &c.Stack.CEIO
	flows := min(len(c.flows), s.Flows)
	if !s.Reallocate {
		flows = s.Flows
	}
	share := s.Credits / flows
	switch at := c.Server.Path + ".ceio.batch"; {
	case s.Credits == 0 || s.Batch < share:
	case share < 2:
		c.bad(false, c.Server.Path+".ceio.credits", "%d: a flow's share of %d flows is %d: want 2 a flow or more, "+
			"or 0 to send everything slow", s.Credits, flows, share)
	default:
		c.bad(false, at, "%d: credits return after a batch of messages, and a flow's share is %d (%d of %d flows): "+
			"want %d at most", s.Batch, share, s.Credits, flows, share-1)
	}
}

// resources checks that the NIC has as many queues, rules and keys as the flows take.
func (c *check) resources() {
	b := buildOf(c.Card)
	has := [...]int{b.NumRxq, b.NumTxq, b.NumRules, b.NumKeys}
	all := c.takes(len(c.flows))
	for i, what := range [...]string{"receive queues", "transmit queues", "steering rules", "memory keys"} {
		if all[i] <= has[i] {
			continue
		}
		n := sort.Search(len(c.flows), func(n int) bool { return c.takes(n + 1)[i] > has[i] })
		f := c.flows[n] // the first one for which the NIC has too few
		c.bad(false, c.at(f)+".queue_pairs", "%d: the flows of server %d take %d %s, and its NIC has %d: want fewer "+
			"flows, or a build with more", f.spec.QueuePairs, c.number, all[i], what, has[i])
	}
}

// takes returns the receive queues, transmit queues, rules and keys that the server's first n flows take.
func (c *check) takes(n int) [4]int {
	cores := map[int]bool{}
	for i := range n {
		cores[c.Stack.coreOf(i, coresOf(c.Card))] = true
	}
	tx := max(len(cores), 1)
	if c.Stack.Kind != CEIO {
		return [4]int{n, tx, n, 1}
	}
	accounts := min(n, c.Stack.CEIO.Flows)
	shared := min(n-accounts, 1)
	return [4]int{2*accounts + shared, 2 * tx, accounts, 1 + accounts + shared}
}

// Busy returns the host cores that a server's flows use, and whether a core of its card is busy, too.
func (s *Scenario) Busy(server int) (cores []int, arm bool) {
	x := &s.Servers[server]
	n := 0
	for _, f := range flowsOf(s.Workloads) {
		if slices.Contains(f.ends[:], server) {
			if c := x.Stack.coreOf(n, max(coresOf(x.Card), 1)); !slices.Contains(cores, c) {
				cores = append(cores, c)
			}
			n++
		}
	}
	if n > 0 && x.Stack.Kind == HostCC {
		cores = append(cores, coresOf(x.Card)-1)
	}
	return cores, n > 0 && x.Stack.Kind == CEIO && x.Stack.CEIO.Controller == manager.ControlArm
}

// ends returns example addresses of a flow, to compute the length of its headers.
func ends(v6 bool) *hostnet.Ends {
	var e hostnet.Ends
	e.Local = hostbed.Address(0, v6)
	return &e
}
