package verbstest

import (
	"slices"

	"nictwin/stack/verbs"
)

// fakeDevice is a device whose packets are function calls. It implements all of package verbs, without time. It may
// have one seeded fault.
type fakeDevice struct {
	w       *fakeWire
	n       int
	mem     []byte
	attr    verbs.DeviceAttr
	objects *verbs.Objects
	regions *verbs.Regions
	ahs     map[verbs.AH]verbs.PD
	qps     map[uint32]*fakeQP
	async   func(verbs.AsyncEvent)
}

// fakeWire connects two devices and holds the actions that are still to be carried out.
type fakeWire struct {
	devs [2]*fakeDevice
	todo []func()
	how  string
}

func (w *fakeWire) later(f func()) { w.todo = append(w.todo, f) }

func (w *fakeWire) settle() error {
	for len(w.todo) > 0 {
		f := w.todo[0]
		w.todo = w.todo[1:]
		f()
	}
	return nil
}

func (p *fakeDevice) Read(addr uint64, b []byte) error  { copy(b, p.mem[addr:]); return nil }
func (p *fakeDevice) Write(addr uint64, b []byte) error { copy(p.mem[addr:], b); return nil }

const paperBytes = 4 << 20

func newFake(how string) *Bench {
	w := &fakeWire{how: how}
	b := &Bench{Settle: w.settle}
	for i := range w.devs {
		p := &fakeDevice{
			w: w, n: i, mem: make([]byte, paperBytes), ahs: map[verbs.AH]verbs.PD{}, qps: map[uint32]*fakeQP{},
			regions: verbs.NewRegions(64),
			attr: verbs.DeviceAttr{
				MaxQP: 256, MaxQPWR: 64, MaxSGE: 4, MaxInline: 64, MaxCQ: 512, MaxCQE: 256, MaxMR: 64, MaxPD: 64,
				MaxAH: 8, MaxQPRdAtom: 16, MaxQPInitRdAtom: 16,
				MaxSRQ: 4, MaxSRQWR: 64, MaxSRQSGE: 4, Ports: 1, Features: verbs.AllFeatures,
				Types: []verbs.QPType{verbs.QPTRC, verbs.QPTUC, verbs.QPTUD, verbs.QPTRawPacket},
			},
		}
		p.objects = verbs.NewObjects(map[verbs.Kind]verbs.Numbers{verbs.KindPD: {Count: 64}, verbs.KindCQ: {Count: 512},
			verbs.KindQP: {First: 2, Count: 256},
			verbs.KindAH: {Count: 8}, verbs.KindSRQ: {Count: 4}})
		w.devs[i] = p
		b.Sides[i] = Side{Context: p, Memory: p, Base: 4096, Bytes: paperBytes - 8192, Port: 1,
			Peer: verbs.AHAttr{Port: 1, MAC: [6]byte{2, 0, 0, 0, 0, byte(1 - i)}}}
	}
	return b
}

func (p *fakeDevice) hasFault(how string) bool { return p.w.how == how }

func (p *fakeDevice) QueryDevice(done func(verbs.DeviceAttr, error)) { done(p.attr, nil) }

func (p *fakeDevice) QueryPort(port uint8, done func(verbs.PortAttr, error)) {
	if port != 1 && !p.hasFault("any port") {
		done(verbs.PortAttr{}, verbs.Errorf("query_port", verbs.EINVAL, "port %d: want 1", port))
		return
	}
	done(verbs.PortAttr{Active: true, MaxMTU: verbs.MTU4096, ActiveMTU: verbs.MTU1024, MaxMessage: 1 << 20}, nil)
}

func pdOf(pd verbs.PD) verbs.Object { return verbs.Object{Kind: verbs.KindPD, Number: uint32(pd)} }

func (p *fakeDevice) AllocPD(done func(verbs.PD, error)) {
	n, err := p.objects.Create("alloc_pd", verbs.KindPD)
	p.w.later(func() { done(verbs.PD(n), err) })
	if p.hasFault("ends twice") {
		p.w.later(func() { done(verbs.PD(n), err) })
	}
}

func (p *fakeDevice) DeallocPD(pd verbs.PD, done func(error)) {
	err := p.objects.Destroy("dealloc_pd", pdOf(pd))
	if p.hasFault("PD in use") {
		err = nil
	}
	done(err)
}

func (p *fakeDevice) RegMR(pd verbs.PD, addr, length uint64, a verbs.Access, done func(verbs.MR, error)) {
	if !p.objects.Has(pdOf(pd)) {
		done(verbs.MR{}, verbs.Errorf("reg_mr", verbs.EINVAL, "no PD %d", pd))
		return
	}
	m, err := p.regions.Register(pd, addr, length, a)
	if err == nil {
		err = p.objects.Add("reg_mr", verbs.Object{Kind: verbs.KindMR, Number: m.LKey}, pdOf(pd))
	}
	p.w.later(func() { done(m, err) })
}

func (p *fakeDevice) DeregMR(lkey uint32, done func(error)) {
	err := p.objects.Destroy("dereg_mr", verbs.Object{Kind: verbs.KindMR, Number: lkey})
	if err == nil && !p.hasFault("keys live on") {
		_, err = p.regions.Deregister(lkey)
	}
	done(err)
}

func (p *fakeDevice) CreateAH(pd verbs.PD, a verbs.AHAttr, done func(verbs.AH, error)) {
	if a.Port != 1 {
		done(0, verbs.Errorf("create_ah", verbs.EINVAL, "port %d: want 1", a.Port))
		return
	}
	n, err := p.objects.Create("create_ah", verbs.KindAH, pdOf(pd))
	if err == nil {
		p.ahs[verbs.AH(n)] = pd
	}
	done(verbs.AH(n), err)
}

func (p *fakeDevice) DestroyAH(ah verbs.AH, done func(error)) {
	delete(p.ahs, ah)
	done(p.objects.Destroy("destroy_ah", verbs.Object{Kind: verbs.KindAH, Number: uint32(ah)}))
}

func (p *fakeDevice) OnAsync(f func(verbs.AsyncEvent)) { p.async = f }

func (p *fakeDevice) raise(e verbs.AsyncEvent) {
	if p.async != nil && !p.hasFault("no events") {
		p.async(e)
	}
}

// fakeCQ is a completion queue of a fakeDevice.
type fakeCQ struct {
	*verbs.Completions
	p      *fakeDevice
	n      uint32
	notify verbs.Notifier
	event  func()
	follow []func()
}

func (p *fakeDevice) CreateCQ(entries int, done func(verbs.CQ, error)) {
	if entries < 1 || entries > p.attr.MaxCQE {
		done(nil, verbs.Errorf("create_cq", verbs.EINVAL, "%d entries", entries))
		return
	}
	n, err := p.objects.Create("create_cq", verbs.KindCQ)
	done(&fakeCQ{Completions: verbs.NewCompletions(entries), p: p, n: n}, err)
}

func (c *fakeCQ) object() verbs.Object { return verbs.Object{Kind: verbs.KindCQ, Number: c.n} }

func (p *fakeDevice) DestroyCQ(cq verbs.CQ, done func(error)) {
	done(p.objects.Destroy("destroy_cq", cq.(*fakeCQ).object()))
}

func (c *fakeCQ) ReqNotify(only bool) error {
	c.notify.Request(only && !c.p.hasFault("solicited is any"))
	return nil
}
func (c *fakeCQ) OnEvent(f func()) { c.event = f }
func (c *fakeCQ) Follow(f func()) (func(), error) {
	i := len(c.follow)
	c.follow = append(c.follow, f)
	return func() { c.follow[i] = func() {} }, nil
}

func (c *fakeCQ) add(wc verbs.WC, solicited bool) {
	if !c.Add(&wc) {
		c.p.raise(verbs.AsyncEvent{Type: verbs.EventCQErr, CQ: c})
		return
	}
	if (c.notify.Added(&wc, solicited) || c.p.hasFault("always events")) && c.event != nil {
		c.event()
	}
	for _, f := range c.follow {
		f()
	}
}

// fakeSRQ is a shared receive queue, or the receive queue of one queue pair.
type fakeSRQ struct {
	p     *fakeDevice
	n     uint32
	wrs   []verbs.RecvWR
	max   int
	limit int
}

func (p *fakeDevice) CreateSRQ(pd verbs.PD, a verbs.SRQAttr, done func(verbs.SRQ, error)) {
	n, err := p.objects.Create("create_srq", verbs.KindSRQ, pdOf(pd))
	done(&fakeSRQ{p: p, n: n, max: a.MaxWR}, err)
}

func (p *fakeDevice) ModifySRQ(s verbs.SRQ, limit int, done func(error)) {
	s.(*fakeSRQ).limit = limit
	done(nil)
}

func (p *fakeDevice) DestroySRQ(s verbs.SRQ, done func(error)) {
	done(p.objects.Destroy("destroy_srq", verbs.Object{Kind: verbs.KindSRQ, Number: s.(*fakeSRQ).n}))
}

func (s *fakeSRQ) PostRecv(wrs []verbs.RecvWR) (int, error) {
	for i, w := range wrs {
		if len(s.wrs) == s.max {
			return i, verbs.ErrRecvFull
		}
		s.push(w)
	}
	return len(wrs), nil
}

func (s *fakeSRQ) push(w verbs.RecvWR) {
	w.SGEs = slices.Clone(w.SGEs)
	s.wrs = append(s.wrs, w)
}

// take removes and returns the oldest receive request.
func (s *fakeSRQ) take() verbs.RecvWR {
	i := 0
	if s.p.hasFault("receives out of order") {
		i = len(s.wrs) - 1
	}
	w := s.wrs[i]
	s.wrs = slices.Delete(s.wrs, i, i+1)
	if len(s.wrs) < s.limit && !s.p.hasFault("no SRQ limit") {
		s.limit = 0
		s.p.raise(verbs.AsyncEvent{Type: verbs.EventSRQLimit, SRQ: s})
	}
	return w
}
