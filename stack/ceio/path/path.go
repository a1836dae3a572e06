package path

import (
	"nictwin/stack/ceio/device"
	"nictwin/stack/hostnet"
)

// path is the path of one flow of a node.
type path struct {
	s    *Server
	c    hostnet.PathConfig
	core *hostCore
	flow *device.Flow
	id   int // flow of the manager
	rule int
	hits uint64 // of the rule, as the controller read them last

	started bool
	worked  bool            // took completions since the latest call of Worked
	got     []device.Packet // handed over by the manager
	at      int             // packets of `got` that were passed on
	order   uint64          // address of the entries of packets, without Spec.SoftwareRing; else 0
	mine    []device.Packet // of the shared ring: packets of this flow, from `next` on
	next    int
	err     error
}

var (
	_ hostnet.Path    = (*path)(nil)
	_ hostnet.Limited = (*path)(nil)
	_ hostnet.Worker  = (*path)(nil)
	_ hostnet.Shared  = (*path)(nil)
)

func (p *path) now() Ps { return Ps(p.c.Bus.Core().Now()) }

// Next implements hostnet.Path.
func (p *path) Next(x *hostnet.Packet) bool {
	if p.Err() != nil || !p.start() {
		return false
	}
	if p.id == p.s.c.Spec.Flows {
		return p.nextShared(x)
	}
	if p.at == len(p.got) && !p.receive() {
		return false
	}
	p.at++
	p.pass(x, &p.got[p.at-1])
	return true
}

// Worked implements hostnet.Worker.
func (p *path) Worked() bool {
	worked := p.worked
	p.worked = false
	return worked
}

// start starts the flow in the first call of Next, since the node is ready then.
func (p *path) start() bool {
	if p.started {
		return true
	}
	p.started = true
	if p.id == p.s.c.Spec.Flows && p.s.d.Manager().Started(p.id) {
		return true
	}
	p.err = p.flow.Start(p.now())
	return p.err == nil
}

// receive polls the rings until the manager hands packets over, or nothing is left to poll.
func (p *path) receive() bool {
	m := p.s.d.Manager()
	p.got, p.at = p.got[:0], 0
	for p.Err() == nil {
		now := p.now()
		copied := p.core.copier.Poll(now)
		more := p.flow.Poll(now, p.c.Burst)
		if more {
			p.s.arm.arrived()
		}
		if now >= m.Deadline() {
			m.Tick(now)
		}
		p.recv(now)
		// Another flow of the core may have seen the end of their copies.
		p.worked = p.worked || copied || more || len(p.got) > 0
		p.core.limit(p.id)
		if len(p.got) > 0 || !more {
			break
		}
	}
	return len(p.got) > 0
}

// recv receives a burst: what is in host memory or, without Spec.Async, all of it once it is there. The latter is of no
// more packets than half of the buffers, as applications may hold the other half until later packets have come.
func (p *path) recv(now Ps) {
	s := &p.s.c.Spec
	if s.Async {
		p.got, p.err = p.flow.AsyncRecv(now, p.c.Burst, p.got)
		return
	}
	most := max(1, min(s.FastSlots, s.SlowSlots, s.Landing)/2)
	if n := min(p.flow.Pending(), p.c.Burst, most); n > 0 {
		p.got, _, p.err = p.flow.Recv(now, n, p.got)
	}
}

// nextShared passes on the flow's next packet of the shared ring. It leaves packets of other flows to those flows'
// paths.
func (p *path) nextShared(x *hostnet.Packet) bool {
	for p.next == len(p.mine) {
		p.mine, p.next = p.mine[:0], 0
		if !p.receive() {
			return false
		}
		for i := range p.got {
			k := &p.got[i]
			to := p.s.steer(p.c.Bus.Core(), k)
			if to == nil {
				p.s.strangers++
				p.flow.Done(p.now(), k, 1)
				continue
			}
			to.mine = append(to.mine, *k)
			if to != p {
				to.c.Loop.Wake()
			}
		}
	}
	p.next++
	p.pass(x, &p.mine[p.next-1])
	return true
}

// pass stores a packet for the flow, marked if the slow path grows.
func (p *path) pass(x *hostnet.Packet, k *device.Packet) {
	p.c.Bus.Core().Compute(p.s.c.Spec.PacketCycles)
	p.sort(k)
	*x = hostnet.Packet{HdrLen: k.HdrLen, PayLen: k.Bytes}
	x.Hdr, x.Pay = k.Hdr, k.Address
	x.SetCqe(k.Cqe())
	x.Slow = !k.Fast
	if p.s.d.Manager().Marking(p.id) && x.SetCE(k.Cqe()) {
		p.s.marked++
	}
}

// Done implements hostnet.Path.
func (p *path) Done(x *hostnet.Packet) {
	k := device.Packet{Address: x.Pay, Fast: !x.Slow}
	messages := 0
	if x.Last {
		messages = 1
	}
	p.flow.Done(p.now(), &k, messages)
}

// SharesRing implements hostnet.Shared: only one path of a shared ring is woken when packets come.
func (p *path) SharesRing() bool { return p.id == p.s.c.Spec.Flows }

// Holds implements hostnet.Limited: slow packets need landing buffers, and receive calls wait for up to the other half.
func (p *path) Holds() int { return min(p.s.c.Spec.FastSlots, p.s.c.Spec.Landing) / 2 }

// Idle implements hostnet.Path.
func (p *path) Idle() bool {
	return p.at == len(p.got) && p.next == len(p.mine) && p.s.d.Manager().Idle(p.id)
}

func (p *path) check(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Err implements hostnet.Path.
func (p *path) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.s.err()
}

// Close implements hostnet.Path.
func (p *path) Close() {
	p.core.loop.Stop()
	if p.s.arm != nil {
		p.s.arm.loop.Stop()
	}
}
