package hostnet

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/rpc"
)

// Ps is a time in picoseconds.
type Ps = rpc.Ps

// Never is the time of a timer that does not run.
const Never = rpc.Never

// FlowConfig configures one end of a flow. Exactly one of Server, Client, Source and Sink is set.
type FlowConfig struct {
	Name string // in errors; empty: "flow" and its number
	Core int    // of Config.Cores
	Ends Ends

	// MatchSource makes the flow's steering rule look at the source port, too, for protocols whose destination port is
	// given, such as VXLAN.
	MatchSource bool

	RPC     rpc.Spec // of Server and Client; both ends must have the same segment
	Buffers Buffers  // Log and Bytes 0: those of the node's Spec
	Path    Opener   // nil: Direct

	// ReceiveCycles replaces those of the node's Spec, for flows that bypass the CPU, in which no software looks at
	// packets one by one. nil: the node's.
	ReceiveCycles *int64

	Server      Server
	AnswerBytes int // longest answer that the server's Answer may send

	Client      Client
	Outstanding int // most requests without an answer

	Source Source
	Sink   Sink
}

// name returns the name of a node's n-th flow for errors.
func (c *FlowConfig) name(n int) string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("flow %d", n)
}

func (c *FlowConfig) validate(cores int) error {
	errs := []error{c.Ends.validate()}
	want := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	want(c.Core >= 0 && c.Core < cores, "core %d: want 0 to %d", c.Core, cores-1)
	applications := 0
	for _, set := range [...]bool{c.Server != nil, c.Client != nil, c.Source != nil, c.Sink != nil} {
		if set {
			applications++
		}
	}
	if r := c.ReceiveCycles; r != nil {
		want(*r >= 0 && *r <= maxCycles, "%d cycles for a packet: want 0 to %d", *r, maxCycles)
	}
	want(applications == 1, "%d applications: want one of Server, Client, Source and Sink", applications)
	if c.Server != nil || c.Client != nil {
		if err := c.RPC.Validate(); err != nil {
			errs = append(errs, err)
		}
		longest := nicspec.FrameMax - c.Ends.HeaderBytes() - rpc.AckBytes
		want(c.AnswerBytes >= 0 && c.AnswerBytes <= longest, "answers of %d bytes: want 0 to %d", c.AnswerBytes,
			longest)
	}
	want(c.Client == nil || c.Outstanding >= 1 && c.Outstanding <= 1<<16, "%d requests outstanding: want 1 to 65536",
		c.Outstanding)
	return errors.Join(errs...)
}

// role implements the part of a flow that depends on its application.
type role interface {
	headerBytes() int                  // bytes behind the UDP header that method take needs
	take(p *Packet, d datagram)        // handles a packet, whose headers are in Flow.head
	step(now Ps) (worked bool)         // sends what there is to send
	deadline() Ps                      // time of the next step without a packet
	idle() bool                        // nothing is unfinished
	timer() string                     // names the timer that runs; empty: none
	progress() uint64                  // changes when the flow advances
	slotBytes(headers int) (bytes int) // longest frame that the role stores in a slot
}

// Flow is one end of a flow. Applications get it in their calls, which run as software of its core.
type Flow struct {
	node   *Node
	core   *core
	number int
	name   string // in errors
	ends   Ends
	cfg    FlowConfig
	path   Path
	worker Worker // the path, if it is one
	reader Reader // the server, if it is one and the path is its own
	loop   *cpu.Loop
	role   role

	packet Packet
	head   [headBytes]byte // beginning of the packet
	frame  []byte          // frame that is being built; its first bytes are the headers
	now    Ps              // time of the current step

	receiveCycles int64
	broken        uint64 // packets dropped for bad lengths, checksums or headers
}

// headBytes covers the headers of any packet: Ethernet with two tags, IPv6, UDP, rpc.
const headBytes = 192

func (n *Node) openFlow(i int, cfg FlowConfig) (*Flow, error) {
	c := n.cores[cfg.Core]
	f := &Flow{node: n, core: c, number: i, name: cfg.name(i), ends: cfg.Ends, cfg: cfg}
	switch {
	case cfg.Server != nil:
		f.role = &server{f: f, app: cfg.Server}
		f.reader, _ = cfg.Server.(Reader)
	case cfg.Client != nil:
		s, err := rpc.NewSender(cfg.RPC)
		if err != nil {
			return nil, err
		}
		f.role = newCaller(f, s)
	case cfg.Source != nil:
		f.role = &source{f: f, app: cfg.Source}
	default:
		f.role = &sink{f: f, app: cfg.Sink}
	}
	f.receiveCycles = n.cfg.Spec.ReceiveCycles
	if cfg.ReceiveCycles != nil {
		f.receiveCycles = *cfg.ReceiveCycles
	}
	f.frame = append(f.ends.template(), make([]byte, nicspec.FrameMax)...)[:nicspec.FrameMax]
	var err error
	f.loop, err = c.cpu.Add(cpu.LoopSpec{Name: fmt.Sprintf("flow %d", i), Poll: n.cfg.Spec.PollCycles},
		func(*cpu.Core) bool { return f.step() })
	c.flows = append(c.flows, f)
	return f, err
}

// buffers returns the flow's receive buffers.
func (f *Flow) buffers() Buffers {
	b, s := f.cfg.Buffers, &f.node.cfg.Spec
	if b.Log == 0 {
		b.Log = s.LogReceive
	}
	if b.Bytes == 0 {
		b.Bytes = s.BufferBytes
	}
	return b
}

// openPath opens the flow's path.
func (f *Flow) openPath() error {
	s, b := &f.node.cfg.Spec, f.buffers()
	open := f.cfg.Path
	if open == nil {
		open = Direct
	}
	var match driver.Rule
	match.Value, match.Mask = f.ends.match(f.cfg.MatchSource)
	var err error
	f.path, err = open(PathConfig{Name: f.name, Driver: f.node.drv, Bus: f.core.bus, Loop: f.loop, Match: match,
		Buffers: b, Repost: s.Repost, Burst: s.Burst, Resources: &f.node.Resources})
	f.worker, _ = f.path.(Worker)
	if p, ok := f.path.(Shared); ok && p.SharesRing() {
		f.reader = nil
	}
	return err
}

// step receives and sends at most a burst each.
func (f *Flow) step() bool {
	if f.node.err != nil || !f.node.up {
		return false
	}
	f.now = Ps(f.core.cpu.Now())
	worked := false
	for range f.node.cfg.Spec.Burst {
		const most = 2 // frames that a packet may make the flow send: an answer, and an acknowledgement
		if !f.core.hasRoom(most) || f.reader != nil && !f.reader.Wants() || !f.path.Next(&f.packet) {
			break
		}
		worked = true
		f.receive(&f.packet)
	}
	if f.worker != nil && f.worker.Worked() {
		worked = true
	}
	if f.role.step(f.now) {
		worked = true
	}
	f.core.tx.flush()
	if err := f.path.Err(); err != nil {
		f.node.fail(err)
	}
	f.loop.Disarm()
	if at := f.role.deadline(); at != Never {
		f.loop.WakeAt(simcore.Ps(at))
	}
	return worked
}

// receive loads and parses the headers of a packet, and hands it over.
func (f *Flow) receive(p *Packet) {
	f.core.cpu.Compute(f.receiveCycles)
	p.Last = true // unless rpc knows better
	n := min(p.L4+udpBytes+f.role.headerBytes(), p.HdrLen+p.PayLen, len(f.head))
	if !p.Good || p.L4 == 0 {
		f.drop(p)
		return
	}
	f.prefetch(p)
	f.load(p, 0, f.head[:n])
	d, ok := parse(f.head[:n], p.L3, p.L4)
	if !ok || d.payload+d.bytes > p.HdrLen+p.PayLen {
		f.drop(p)
		return
	}
	f.role.take(p, d)
}

// prefetched is the part of a packet that the core fetches at once when software looks at its headers: the pair of
// lines that the adjacent-line prefetchers of cores bring: assumption, chosen so that the baseline of CEIO's Table 4
// is near its anchor. A packet of 144 B is two misses.
const prefetched = 128

// prefetch fetches the beginning of a packet.
func (f *Flow) prefetch(p *Packet) {
	addr, n := p.Hdr, p.HdrLen
	if n == 0 {
		addr, n = p.Pay, p.PayLen
	}
	f.check(f.core.cpu.Prefetch(addr, min(n, prefetched)))
}

// drop drops a broken packet.
func (f *Flow) drop(p *Packet) {
	f.broken++
	f.path.Done(p)
}

// load loads bytes of a packet from its two buffers.
func (f *Flow) load(p *Packet, off int, b []byte) {
	if n := min(len(b), p.HdrLen-off); n > 0 {
		f.check(f.core.cpu.Load(p.Hdr+uint64(off), b[:n]))
		off, b = off+n, b[n:]
	}
	if len(b) > 0 {
		f.check(f.core.cpu.Load(p.Pay+uint64(off-p.HdrLen), b))
	}
}

func (f *Flow) check(err error) {
	if err != nil {
		f.node.fail(err)
	}
}

// Number returns the flow's number on its node, its index in Config.Flows.
func (f *Flow) Number() int { return f.number }

// Core returns the core that runs the flow, for loads, stores and cycles of the application.
func (f *Flow) Core() *cpu.Core { return f.core.cpu }

// Now returns the time at which the current step began.
func (f *Flow) Now() Ps { return f.now }

// Alloc allocates n bytes of the node's host memory for the application.
func (f *Flow) Alloc(n, align uint64) (uint64, error) {
	return f.node.drv.Alloc(nicspec.EndpointHost, n, align)
}

// Holds returns the most packets that the application may hold until others come.
func (f *Flow) Holds() int {
	if l, ok := f.path.(Limited); ok {
		return l.Holds()
	}
	return 1 << f.buffers().Log / 2
}

// Fail ends the node with an error, such as a wrong byte that an application has found.
func (f *Flow) Fail(err error) { f.node.fail(fmt.Errorf("%s: %w", f.name, err)) }

// Watch makes writes to the n bytes at an address, such as a completion record, wake the flow.
func (f *Flow) Watch(addr uint64, n int) error {
	_, err := f.loop.Watch(addr, n)
	return err
}

// Wake makes the core step the flow at its next poll.
func (f *Flow) Wake() { f.loop.Wake() }
