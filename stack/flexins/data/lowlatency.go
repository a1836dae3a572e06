package data

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// MaxLowLatency returns the longest message of a low-latency queue pair; it must fit into the rings of the pipes.
func (s *Spec) MaxLowLatency() int {
	return min(s.PayloadBytes-2*nicspec.LineBytes, s.Pipe.MaxInline())
}

// slotBytes returns the size of a header slot of the transmit queues: headers, inline payload, a trailer.
func (c *Config) slotBytes() uint64 {
	const ordinary = 512
	if c.LowLatency == 0 {
		return ordinary
	}
	return max(ordinary, wholeLines(headerBytes+c.Spec.MaxLowLatency()))
}

// validateLowLatency rejects configurations for which the NIC has too few queues, rules or accounts.
func (c *Config) validateLowLatency() error {
	if c.LowLatency == 0 {
		return nil
	}
	b := c.Driver.Build()
	switch n := c.LowLatency; {
	case n < 0 || n > nicspec.NumAccounts:
		return fmt.Errorf("data: %d low-latency queue pairs: want 0 to %d, the NIC's credit accounts", n,
			nicspec.NumAccounts)
	case !b.Has(nicspec.PartAccounts):
		return errors.New("data: low-latency queue pairs: want a NIC with part accounts, which this one lacks")
	case c.FirstRule < n:
		return fmt.Errorf("data: first rule %d: want %d or more, as the rules of low-latency queue pairs come before",
			c.FirstRule, n)
	case c.FirstRx+len(c.Cores)+n > b.NumRxq:
		return fmt.Errorf("data: %d low-latency queue pairs beside %d cores: want %d receive queues together at most",
			n, len(c.Cores), b.NumRxq-c.FirstRx)
	case c.Control == nil:
		return errors.New("data: low-latency queue pairs: want Control, the core that has the driver")
	}
	return nil
}

// createLowLatency opens the receive queue of a queue pair, then creates the queue pair.
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

// fitsLowLatency returns an error if the card cannot have this low-latency queue pair.
func (a *Card) fitsLowLatency(cfg *QPConfig) error {
	const verb = "create_qp"
	switch most := a.spec.MaxLowLatency(); {
	case a.cfg.LowLatency == 0:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pairs: this card was configured without any")
	case cfg.Type != verbs.QPTRC:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pair of type %v: want RC", cfg.Type)
	case cfg.HasSRQ:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pair with a shared receive queue: want one of "+
			"its own")
	case cfg.LowLatency > most:
		return verbs.Errorf(verb, verbs.EINVAL, "low-latency queue pair of messages of %d B: want %d at most",
			cfg.LowLatency, most)
	}
	return nil
}

// openLanding takes a free receive queue, rule and account of the NIC, and allocates Arm memory for headers.
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
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "all %d receive queues for low-latency queue pairs are in use",
			len(a.landings))
	}
	n := max(cfg.Cap.MaxRecvWR, 1)
	var err error
	if l.headers, err = a.drv.Alloc(nicspec.EndpointArm, uint64(n*headerBytes), nicspec.LineBytes); err != nil {
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "header buffers: %v", err)
	}
	a.drv.Uses().Mark(l.headers, uint64(n*headerBytes), driver.UseHeaders)
	log := nicspec.LogSizeMin
	for 1<<log < n {
		log++
	}
	l.rx, err = a.drv.OpenRx(driver.RxConfig{
		QueueConfig: c.queue(a.cfg.FirstRx+len(a.cores)+l.slot, log), Split: nicspec.SplitModeHeaders,
		HdrBytes: headerBytes, PayBytes: cfg.LowLatency, Trim: true,
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

// setDrops makes the NIC drop frames with a wrong ICRC while at least one landing is open: the core would notice the
// ICRC only when the payload is already in an application's buffer.
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

// steer sends single-packet SENDs from the peer to the queue pair's receive queue while it has descriptors, otherwise
// to the core's. done is called when the rule is in force.
func (l *landing) steer(p *transport.Path, done func(error)) {
	a := l.c.card
	ipv4 := p.Peer.IP.Is4()
	value := nicspec.SteerKeyFields{IsRoce: true, IsIpv4: ipv4, IsIpv6: !ipv4, DestQp: l.q.config.QPN,
		BthOpcode: sendOnly}
	copy(value.SrcAddr[:], p.Peer.IP.AsSlice())
	copy(value.DstAddr[:], p.Local.IP.AsSlice())
	mask := nicspec.SteerKeyFields{IsRoce: true, IsIpv4: true, IsIpv6: true, IsFrag: true, IpLenBad: true,
		L4LenBad: true, DestQp: 1<<24 - 1, BthOpcode: sendOnlyMask}
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

// sendOnly and sendOnlyMask match the BTH opcodes SEND_ONLY and SEND_ONLY_WITH_IMM of RC.
const sendOnly, sendOnlyMask = 0x04, 0xfe

func (l *landing) rule() int { return l.c.card.cfg.FirstRule - len(l.c.card.landings) + l.slot }

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

// close frees all resources of the landing. done is called as software of the core that has the driver. The queue must
// be off.
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

// modify performs the part of a state change that concerns the receive queue.
func (l *landing) modify(x *Change, done func(error)) {
	q := l.q
	if a := &x.Attr; x.To == verbs.QPSRTR && q.config.LowLatency > int(a.MTU) {
		done(verbs.Errorf("modify_qp", verbs.EINVAL, "PATH_MTU is %d: the low-latency queue pair was created with "+
			"messages of %d B", a.MTU, q.config.LowLatency))
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

// destroy frees the receive queue. done is called afterwards, as software of the queue pair's core.
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
