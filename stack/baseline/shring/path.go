package shring

import (
	"fmt"

	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/hostnet"
)

// path is the path of one flow of a node.
type path struct {
	s      *Server
	c      hostnet.PathConfig
	core   *hostCore
	taken  fifo.Queue[hostnet.Packet] // packets that the core has found and Next has not returned
	worked bool                       // looked at entries or posted buffers since the latest call of Worked
}

var (
	_ hostnet.Path    = (*path)(nil)
	_ hostnet.Limited = (*path)(nil)
	_ hostnet.Worker  = (*path)(nil)
	_ hostnet.Shared  = (*path)(nil)
)

// Next implements hostnet.Path.
func (p *path) Next(x *hostnet.Packet) bool {
	p.core.begin(p)
	if p.s.err != nil || p.taken.Len() == 0 {
		return false
	}
	*x = p.taken.Pop()
	p.s.stats.Packets++
	return true
}

// SharesRing implements hostnet.Shared: entries that a core has not passed keep the ring short for all.
func (p *path) SharesRing() bool { return true }

// Worked implements hostnet.Worker.
func (p *path) Worked() bool {
	worked := p.worked
	p.worked = false
	return worked
}

// arrived takes a packet of the flow.
func (p *path) arrived(f *driver.RxFrame) {
	x := hostnet.Packet{Buffer: f.Buffer, HdrLen: f.HdrLen, PayLen: f.PayLen}
	x.SetCqe(f.Cqe)
	p.taken.Push(x)
}

// Done implements hostnet.Path.
func (p *path) Done(x *hostnet.Packet) {
	p.core.free(int(x.Pay-p.s.base) / p.s.bytes)
	if p.s.due() {
		p.c.Loop.Wake()
	}
}

// Holds implements hostnet.Limited: three quarters of the buffers, those of all flows together.
func (p *path) Holds() int { return p.s.spec.Descriptors * 3 / 4 }

// Idle implements hostnet.Path. Entries that the core has not looked at may be of the flow.
func (p *path) Idle() bool { return p.taken.Len() == 0 && !p.s.ring.Behind(p.core.number) }

// Err implements hostnet.Path. The first path reports the errors of the ring.
func (p *path) Err() error {
	if p != p.s.paths[0] {
		return nil
	}
	return p.s.err
}

// Close implements hostnet.Path.
func (p *path) Close() {}

// errRule is the error of a completion entry with a rule that belongs to no flow.
func errRule(rule uint16) error {
	return fmt.Errorf("a completion entry of rule %d: want the rule of a flow", rule)
}
