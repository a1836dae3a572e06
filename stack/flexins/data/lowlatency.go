package data

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"nictwin/models/fifo"
	"nictwin/models/nicspec"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// MaxLowLatency is the longest message that a low-latency queue pair can have: it has to fit into the rings of the pipes.
func (s *Spec) MaxLowLatency() int {
	return min(s.PayloadBytes-2*nicspec.LineBytes, s.Pipe.MaxInline())
}

// slotBytes is a header slot of the transmit queues: headers, inline payload, a trailer.
func (c *Config) slotBytes() uint64 {
	const ordinary = 512
	if c.LowLatency == 0 {
		return ordinary
	}
	return max(ordinary, wholeLines(headerBytes+c.Spec.MaxLowLatency()))
}

// validateLowLatency refuses what the NIC has too few of.
func (c *Config) validateLowLatency() error {
	if c.LowLatency == 0 {
		return nil
	}
	b := c.Driver.Build()
	switch n := c.LowLatency; {
	case n < 0 || n > nicspec.NumAccounts:
		return fmt.Errorf("data: %d low-latency queue pairs: want 0 to %d, the NIC's credit accounts", n, nicspec.NumAccounts)
	case !b.Has(nicspec.PartAccounts):
		return errors.New("data: low-latency queue pairs: want a NIC with part accounts, which this one lacks")
	case c.FirstRule < n:
		return fmt.Errorf("data: first rule %d: want %d or more, as the rules of low-latency queue pairs come before", c.FirstRule, n)
	case c.FirstRx+len(c.Cores)+n > b.NumRxq:
		return fmt.Errorf("data: %d low-latency queue pairs beside %d cores: want %d receive queues together at most", n, len(c.Cores), b.NumRxq-c.FirstRx)
	case c.Control == nil:
		return errors.New("data: low-latency queue pairs: want Control, the core that has the driver")
	}
	return nil
}

// createLowLatency opens the receive queue of a queue pair, and then makes it.
func (a *Card) createLowLatency(cfg QPConfig, done func(error)) {
	c, err := a.coreOf(cfg.QPN)
	if err == nil {
		err = a.fitsLowLatency(&cfg)
	}
	var l *landing
	if err == nil {
		l, err = a.openLanding(c, &cfg)
	}
	if err != nil {
		done(err)
		return
	}
	a.drv.Then(func() {
		c.cpu.Call(func() {
			err := c.create(cfg)
			if err == nil {
				l.q = c.qps[cfg.QPN]
				l.q.landing = l
				c.landings = append(c.landings, l)
				done(nil)
				return
			}
			a.cfg.Control(func() { l.close(func() { done(err) }) })
		})
	})
}

func (a *Card) fitsLowLatency(cfg *QPConfig) error {
	const verb = "create_qp"
	switch most := a.spec.MaxLowLatency(); {
	case a.cfg.LowLatency == 0:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pairs: this card was set up without")
	case cfg.Type != verbs.QPTRC || cfg.Solar:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pair of type %v: want RC", cfg.Type)
	case cfg.HasSRQ:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pair with a shared receive queue: want one of its own")
	case cfg.LowLatency > most:
		return verbs.Errorf(verb, verbs.EINVAL, "low-latency queue pair of messages of %d B: want %d at most", cfg.LowLatency, most)
	}
	return nil
}

// landing is the receive side of a low-latency queue pair: a receive queue of the NIC whose descriptors are the application's
// receive requests, with header buffers in Arm memory.
type landing struct {
	q       *qp
	c       *core
	slot    int // of Card.landings
	rx      *driver.RxQueue
	headers uint64
	spare   []uint64           // header buffers
	under   fifo.Queue[landed] // with the NIC, in the order of descriptors
	left    []landed           // taken back while the queue is being turned off
	phase   landingPhase
	wait    []func() // for it to be off
	credit  int      // descriptors of which the account was not told
}

// landed is a receive request.
type landed struct {
	number uint64
	buffer driver.Buffer
	to     transport.Span
	status verbs.Status // how it ends when the queue is off; 0: flushed
}

// landingPhase is whether the NIC may write to buffers.
type landingPhase uint8

const (
	landingOpen landingPhase = iota
	landingStops
	landingOff
)

// openLanding takes a receive queue, a rule and an account, and Arm memory for headers.
func (a *Card) openLanding(c *core, cfg *QPConfig) (*landing, error) {
	const verb = "create_qp"
	l := &landing{c: c, slot: -1}
	for i, used := range a.landings {
		if !used {
			l.slot = i
			break
		}
	}
	if l.slot < 0 {
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "all %d receive queues for low-latency queue pairs are in use", len(a.landings))
	}
	n := max(cfg.Cap.MaxRecvWR, 1)
	var err error
	if l.headers, err = a.drv.Alloc(nicspec.EndpointArm, uint64(n*headerBytes), nicspec.LineBytes); err != nil {
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "header buffers: %v", err)
	}
	log := nicspec.LogSizeMin
	for 1<<log < n {
		log++
	}
	l.rx, err = a.drv.OpenRx(driver.RxConfig{
		QueueConfig: c.queue(a.cfg.FirstRx+len(a.cores)+l.slot, log), Split: nicspec.SplitModeHeaders, HdrBytes: headerBytes, PayBytes: cfg.LowLatency, Trim: true,
		OnFrame: func(_ *driver.RxQueue, f *driver.RxFrame) { l.received(f) },
	})
	if err != nil {
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "receive queue: %v", errors.Join(err, a.drv.Free(l.headers)))
	}
	for i := n - 1; i >= 0; i-- {
		l.spare = append(l.spare, l.headers+uint64(i*headerBytes))
	}
	a.landings[l.slot] = true
	a.setDrops()
	return l, a.drv.SetAccount(l.slot, 0, false)
}

// setDrops has the NIC drop what the core would find broken only when it lies in an application's buffer.
func (a *Card) setDrops() {
	var r nicspec.RxCtrlReg
	for _, used := range a.landings {
		if used {
			r.SetDropBadIcrc(true)
		}
	}
	if r != a.drops {
		a.drops = r
		a.cores[0].fail(a.drv.SetDrops(r))
	}
}

// steer has SENDs of one packet from the peer go to the queue pair's receive queue while it has descriptors, and else to the
// core's. done is called when that is so.
func (l *landing) steer(p *transport.Path, done func(error)) {
	a := l.c.card
	ipv4 := p.Peer.IP.Is4()
	value := nicspec.SteerKeyFields{IsRoce: true, IsIpv4: ipv4, IsIpv6: !ipv4, DestQp: l.q.config.QPN, BthOpcode: sendOnly}
	copy(value.SrcAddr[:], p.Peer.IP.AsSlice())
	copy(value.DstAddr[:], p.Local.IP.AsSlice())
	mask := nicspec.SteerKeyFields{IsRoce: true, IsIpv4: true, IsIpv6: true, IsFrag: true, IpLenBad: true, L4LenBad: true, DestQp: 1<<24 - 1, BthOpcode: sendOnlyMask}
	for i := range mask.SrcAddr {
		mask.SrcAddr[i], mask.DstAddr[i] = 0xff, 0xff
	}
	to := driver.ToQueue(l.rx.Number())
	to.Account = &driver.Account{Number: l.slot, SlowQueue: l.c.rx.Number()}
	a.cfg.Control(func() {
		err := a.drv.SetRule(l.rule(), driver.Rule{Value: value, Mask: mask, To: to})
		a.drv.Then(func() { l.c.cpu.Call(func() { done(err) }) })
	})
}

// BTH opcodes SEND_ONLY and SEND_ONLY_WITH_IMM of RC.
const sendOnly, sendOnlyMask = 0x04, 0xfe

func (l *landing) rule() int { return l.c.card.cfg.FirstRule - len(l.c.card.landings) + l.slot }

// post gives a receive request to the NIC. One that names memory which may not be written any more ends the queue pair, as
// nobody would look at it when a message comes.
func (l *landing) post(number uint64, spans []transport.Span) error {
	q := l.q
	x := landed{number: number}
	switch {
	case l.phase != landingOpen && q.conn.State() == verbs.QPSReset: // RESET forgets it
	case l.phase == landingOff:
		q.flushed(&x)
	case l.phase == landingStops:
		l.left = append(l.left, x)
	case len(spans) != 1 || int64(spans[0].Len) < int64(q.config.LowLatency) || !q.CheckLocal(spans[0]):
		x.status = verbs.WCLocProtErr
		l.left = append(l.left, x)
		return l.fault()
	case len(l.spare) == 0:
		return transport.ErrFull
	default:
		last := len(l.spare) - 1
		x.to, x.buffer = spans[0], driver.Buffer{Hdr: l.spare[last], Pay: spans[0].Addr}
		l.spare = l.spare[:last]
		l.put(&x)
	}
	return nil
}

// put posts a descriptor.
func (l *landing) put(x *landed) {
	l.c.fail(l.rx.Post(x.buffer))
	l.under.Push(*x)
	l.credit++
	l.c.work.Wake()
}

// ring tells the NIC of descriptors, and then the account.
func (l *landing) ring() bool {
	if l.credit == 0 || l.phase != landingOpen {
		return false
	}
	l.c.fail(l.rx.Ring())
	l.c.fail(l.c.card.drv.AddCreditBy(l.c.bus, l.slot, l.credit))
	l.credit = 0
	return true
}

// received takes a frame whose payload lies in the application's buffer.
func (l *landing) received(f *driver.RxFrame) {
	c, q := l.c, l.q
	if c.err != nil {
		return
	}
	h, p := c.packets.take()
	p.landing, p.request = l, l.under.Pop()
	p.buf, p.at, p.n, p.clean = f.Buffer, f.Pay, f.PayLen, true
	c.cpu.Compute(c.spec.Parse)
	head := c.header[:f.HdrLen]
	if err := c.cpu.Load(f.Hdr, head); err != nil {
		c.fail(err)
		return
	}
	switch {
	case f.Cqe.Icrc() != nicspec.VerdictOk:
		c.stats.BadICRC++
		c.drop(h)
	case !c.parse(h, p, head, f):
		c.stats.Malformed++
		c.drop(h)
	default:
		c.stats.Received++
		c.stats.Landed++
		c.frame.Landed, c.frame.RecvID = true, p.request.number
		c.countCongestion(&c.frame)
		q.conn.Input(c.now(), &c.frame)
		c.wake(q)
	}
}

// finish ends a packet: its request was used for it, or goes back to the NIC.
func (l *landing) finish(h transport.Handle, p *packet) {
	x, taken := p.request, p.taken
	l.c.packets.free = append(l.c.packets.free, int32(h))
	switch {
	case taken:
		l.spare = append(l.spare, x.buffer.Hdr)
	case l.phase == landingOpen:
		l.c.stats.Returned++
		l.put(&x)
	default:
		l.left = append(l.left, x)
	}
}

// fault ends a queue pair whose buffers may not be written any more.
func (l *landing) fault() error {
	c := l.c
	if l.q.conn.State() == verbs.QPSErr {
		return nil
	}
	err := l.q.conn.Modify(c.now(), verbs.QPSErr, nil)
	l.q.Async(transport.EventQPFatal)
	c.wake(l.q)
	return err
}

// names reports whether the NIC may write to a region.
func (l *landing) names(region uint32) bool {
	for i := range l.under.Len() {
		if l.under.At(i).to.Key == region {
			return true
		}
	}
	return false
}

// unland calls done when no low-latency queue pair of the core has the NIC write to a region: those that do end in error.
func (c *core) unland(region uint32, done func()) {
	left := 1
	one := func() {
		if left--; left == 0 {
			done()
		}
	}
	for _, l := range c.landings {
		if l.phase == landingOpen && l.names(region) {
			c.fail(l.fault())
		}
		if l.phase == landingStops {
			left++
			l.wait = append(l.wait, one)
		}
	}
	one()
}

// check turns the receive queue off when the connection has failed.
func (q *qp) check() {
	if l := q.landing; l != nil && l.phase == landingOpen && q.conn.State() == verbs.QPSErr {
		l.halt(nothing)
	}
}

// halt calls done when the NIC writes to no buffer any more.
func (l *landing) halt(done func()) {
	if l.phase == landingOff {
		done()
		return
	}
	l.wait = append(l.wait, done)
	if l.phase == landingStops {
		return
	}
	l.phase = landingStops
	a, c := l.c.card, l.c
	a.cfg.Control(func() {
		err := errors.Join(a.drv.DropRule(l.rule()), l.rx.Disable(func() { c.cpu.Call(l.stopped) }))
		c.cpu.Call(func() { c.fail(err) })
	})
}

// stopped ends the requests that the NIC had, in the order in which they were posted, if the queue pair is in error; else
// nobody asks for them.
func (l *landing) stopped() {
	l.phase, l.credit = landingOff, 0
	for l.under.Len() > 0 {
		l.left = append(l.left, l.under.Pop())
	}
	slices.SortFunc(l.left, func(a, b landed) int { return cmp.Compare(a.number, b.number) })
	for i := range l.left {
		x := &l.left[i]
		if x.buffer.Hdr != 0 {
			l.spare = append(l.spare, x.buffer.Hdr)
		}
		if l.q.conn.State() == verbs.QPSErr {
			l.q.flushed(x)
		}
	}
	l.left = l.left[:0]
	wait := l.wait
	l.wait = nil
	for _, f := range wait {
		f()
	}
}

// flushed completes a receive request of a queue pair in error.
func (q *qp) flushed(x *landed) {
	w := transport.Completion{ID: x.number, Recv: true, Status: verbs.WCFlushErr}
	if x.status != 0 {
		w.Status = x.status
	}
	q.Complete(&w)
}

// reopen enables the queue again, empty.
func (l *landing) reopen(done func(error)) {
	a, c := l.c.card, l.c
	a.cfg.Control(func() {
		err := errors.Join(l.rx.Enable(), a.drv.SetAccount(l.slot, 0, false))
		a.drv.Then(func() {
			c.cpu.Call(func() {
				l.phase = landingOpen
				done(err)
			})
		})
	})
}

// close gives everything back; done is called as software of the core that has the driver. Nothing is with the NIC any more, or
// ever was.
func (l *landing) close(done func()) {
	a := l.c.card
	err := l.rx.Close(func() {
		a.landings[l.slot] = false
		a.setDrops()
		l.c.fail(a.drv.Free(l.headers))
		done()
	})
	l.c.fail(err)
}

// modify is what a change of state takes beside the connection's.
func (l *landing) modify(x *Change, done func(error)) {
	q := l.q
	if a := &x.Attr; x.To == verbs.QPSRTR && q.config.LowLatency > int(a.MTU) {
		done(verbs.Errorf("modify_qp", verbs.EINVAL, "PATH_MTU is %d: the low-latency queue pair was created with messages of %d B", a.MTU, q.config.LowLatency))
		return
	}
	if x.To == verbs.QPSReset {
		l.halt(func() {
			if err := q.modify(x); err != nil {
				done(err)
				return
			}
			l.reopen(done)
		})
		return
	}
	err := q.modify(x)
	switch {
	case err != nil:
		done(err)
	case x.To == verbs.QPSRTR:
		l.steer(&x.Attr.Path, done)
	case x.To == verbs.QPSErr:
		l.halt(func() { done(nil) })
	default:
		done(nil)
	}
}

// destroy calls done, as software of the queue pair's core, when nothing of the receive queue is left.
func (l *landing) destroy(done func()) {
	c := l.c
	l.halt(func() {
		for i, x := range c.landings {
			if x == l {
				c.landings = append(c.landings[:i:i], c.landings[i+1:]...)
				break
			}
		}
		c.card.cfg.Control(func() { l.close(func() { c.cpu.Call(done) }) })
	})
}
