package provider

import (
	"errors"
	"fmt"
	"math/bits"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/driver"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/verbs"
)

// Spec describes properties of the NIC that cannot be read from it.
type Spec struct {
	Ports []verbs.PortAttr
	MTU   verbs.MTU // largest MTU of the NIC

	PageLog uint8 // log2 of the page size that the NIC uses for memory regions; 0: pages of 4 KB

	// Burst is the number of completion entries that a core takes from a ring before the application gets them, and
	// before other software has its turn; 0: all that have arrived. It has no effect without cores.
	Burst int
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	if len(s.Ports) < 1 {
		errs = append(errs, field.Errorf("ports", "are %d: want 1 or more", len(s.Ports)))
	}
	if !s.MTU.Valid() || s.MTU > verbs.MTU4096 {
		errs = append(errs, field.Errorf("mtu", "%d: want 256, 512, 1024, 2048 or 4096", s.MTU))
	}
	if s.PageLog != 0 && (s.PageLog < basePageLog || s.PageLog > maxPageLog) {
		errs = append(errs, field.Errorf("page_log", "%d: want 0, or %d to %d", s.PageLog, basePageLog, maxPageLog))
	}
	errs = append(errs, field.Within("burst", s.Burst, 0, 1<<rnicspec.MaxLogRing))
	return errors.Join(errs...)
}

// basePageLog and maxPageLog are log2 of the smallest and the largest page size of memory regions (rnicspec.CreateMR).
const basePageLog, maxPageLog = 12, 30

// Context is a NIC as applications see it.
type Context struct {
	dev     *rnicverbs.Device
	spec    Spec
	attr    verbs.DeviceAttr
	objects *verbs.Objects
	regions *verbs.Regions
	ahs     map[verbs.AH]verbs.PD
	ahOf    func(verbs.AH) (verbs.PD, bool)
	async   func(verbs.AsyncEvent)
	bus     driver.Bus // of the core that posts and polls; nil: that of the driver

	accounts Accounts        // nil: queue pairs have no credits
	srqs     map[uint32]*SRQ // by number: the handle of the context that created it
	events   *rnicverbs.CQ   // events of shared receive queues; nil: there was none yet

	readingEvents, eventsAgain bool

	// rings holds destroyed completion queues for reuse, by log2 of their size: the NIC cannot destroy them.
	rings [rnicspec.MaxLogRing + 1][]*rnicverbs.CQ
}

// Sizes of tables that the NIC does not limit: assumptions.
const (
	maxPDs = 1 << 12
	maxMRs = 1 << 16
	maxCQs = 1 << 12
	maxAHs = 1 << 16
)

// New returns the verbs of a NIC whose ports have been given their addresses.
func New(dev *rnicverbs.Device, s Spec) (*Context, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	c := &Context{dev: dev, spec: s, ahs: map[verbs.AH]verbs.PD{}, srqs: map[uint32]*SRQ{}}
	c.attr = verbs.DeviceAttr{
		MaxMRSize: 1 << 56, MaxQP: rnicspec.MaxQPs - 1, MaxQPWR: 1 << rnicspec.MaxLogRing, MaxSGE: 1,
		MaxInline: rnicspec.MaxInline,
		MaxCQ:     maxCQs, MaxCQE: maxCQE, MaxMR: maxMRs, MaxPD: maxPDs, MaxAH: maxAHs, MaxQPRdAtom: rnicspec.MaxRead,
		MaxQPInitRdAtom: rnicspec.MaxRead, Ports: len(s.Ports),
		Types:  []verbs.QPType{verbs.QPTRC, verbs.QPTUC, verbs.QPTUD, verbs.QPTRawPacket},
		MaxSRQ: rnicspec.MaxSRQs - 1, MaxSRQWR: 1 << rnicspec.MaxLogRing, MaxSRQSGE: 1,
		Features: verbs.FeatureAtomics | verbs.FeatureOverrun | verbs.FeatureSRQ,
	}
	c.objects = verbs.NewObjects(map[verbs.Kind]verbs.Numbers{
		verbs.KindPD: {First: 1, Count: maxPDs}, verbs.KindMR: {Count: maxMRs}, verbs.KindCQ: {Count: maxCQs},
		verbs.KindQP: {Count: rnicspec.MaxQPs},
		verbs.KindAH: {First: 1, Count: maxAHs}, verbs.KindSRQ: {First: 1, Count: rnicspec.MaxSRQs - 1},
	})
	c.regions = verbs.NewRegions(maxMRs)
	c.ahOf = func(h verbs.AH) (verbs.PD, bool) { pd, ok := c.ahs[h]; return pd, ok }
	return c, nil
}

// On returns another process's view of the same NIC: what it creates has numbers of its own, and is posted to and
// polled by the core of a bus. Control verbs go through the driver of the first context. Shared receive queues of one
// context can be opened by others.
func (c *Context) On(bus driver.Bus) *Context {
	x := *c
	x.bus, x.async, x.events = bus, nil, nil
	clear(x.rings[:])
	return &x
}

// failed returns the error of a verb whose command failed.
func failed(verb string, err error) error {
	var refused *rnicverbs.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return verbs.Errorf(verb, verbs.EINVAL, "%v", err)
	}
	return verbs.Errorf(verb, verbs.EIO, "%v", err)
}

// QueryDevice implements verbs.Context.
func (c *Context) QueryDevice(done func(verbs.DeviceAttr, error)) { done(c.attr, nil) }

// QueryPort implements verbs.Context.
func (c *Context) QueryPort(port uint8, done func(verbs.PortAttr, error)) {
	if err := c.checkPort("query_port", port); err != nil {
		done(verbs.PortAttr{}, err)
		return
	}
	done(c.spec.Ports[port-1], nil)
}

func (c *Context) checkPort(verb string, port uint8) error {
	if port < 1 || int(port) > len(c.spec.Ports) {
		return verbs.Errorf(verb, verbs.EINVAL, "port %d: want 1 to %d", port, len(c.spec.Ports))
	}
	return nil
}

// AllocPD implements verbs.Context.
func (c *Context) AllocPD(done func(verbs.PD, error)) {
	n, err := c.objects.Create("alloc_pd", verbs.KindPD)
	done(verbs.PD(n), err)
}

func pdObject(pd verbs.PD) verbs.Object { return verbs.Object{Kind: verbs.KindPD, Number: uint32(pd)} }

// DeallocPD implements verbs.Context.
func (c *Context) DeallocPD(pd verbs.PD, done func(error)) {
	done(c.objects.Destroy("dealloc_pd", pdObject(pd)))
}

// RegMR implements verbs.Context.
func (c *Context) RegMR(pd verbs.PD, addr, length uint64, access verbs.Access, done func(verbs.MR, error)) {
	const verb = "reg_mr"
	if !c.objects.Has(pdObject(pd)) {
		done(verbs.MR{}, verbs.Errorf(verb, verbs.EINVAL, "%v does not exist", pdObject(pd)))
		return
	}
	m, err := c.regions.Register(pd, addr, length, access)
	if err != nil {
		done(verbs.MR{}, err)
		return
	}
	mr := verbs.Object{Kind: verbs.KindMR, Number: m.LKey}
	if err := c.objects.Add(verb, mr, pdObject(pd)); err != nil {
		_, undo := c.regions.Deregister(m.LKey)
		done(verbs.MR{}, errors.Join(err, undo))
		return
	}
	pageLog := max(c.spec.PageLog, basePageLog)
	c.dev.Try(&rnicspec.CreateMR{Key: m.LKey, Access: rnicspec.Access(access), PageLog: pageLog, VA: addr, Bus: addr,
		Bytes: length}, func(_ uint32, err error) {
		if err != nil {
			done(verbs.MR{}, errors.Join(failed(verb, err), c.forget(mr)))
			return
		}
		done(m, nil)
	})
}

// forget removes a region from the tables.
func (c *Context) forget(mr verbs.Object) error {
	_, err := c.regions.Deregister(mr.Number)
	return errors.Join(err, c.objects.Destroy("dereg_mr", mr))
}

// DeregMR implements verbs.Context.
func (c *Context) DeregMR(lkey uint32, done func(error)) {
	const verb = "dereg_mr"
	mr := verbs.Object{Kind: verbs.KindMR, Number: lkey}
	if err := c.objects.CanDestroy(verb, mr); err != nil {
		done(err)
		return
	}
	if err := c.forget(mr); err != nil {
		done(err)
		return
	}
	c.dev.TryDeregMR(lkey, func(err error) { done(failed(verb, err)) })
}

// CreateAH implements verbs.Context.
func (c *Context) CreateAH(pd verbs.PD, a verbs.AHAttr, done func(verbs.AH, error)) {
	const verb = "create_ah"
	if err := c.checkPort(verb, a.Port); err != nil {
		done(0, err)
		return
	}
	if !c.objects.Has(pdObject(pd)) {
		done(0, verbs.Errorf(verb, verbs.EINVAL, "%v does not exist", pdObject(pd)))
		return
	}
	c.newHandle(a, func(h uint32, err error) {
		if err == nil {
			err = c.objects.Add(verb, verbs.Object{Kind: verbs.KindAH, Number: h}, pdObject(pd))
		}
		if err != nil {
			done(0, failed(verb, err))
			return
		}
		c.ahs[verbs.AH(h)] = pd
		done(verbs.AH(h), nil)
	})
}

// newHandle creates an address handle in the NIC.
func (c *Context) newHandle(a verbs.AHAttr, done func(uint32, error)) {
	cmd := &rnicspec.CreateAH{
		Handle: c.dev.NextHandle(), Port: a.Port - 1, MAC: a.MAC, UDPPort: verbs.UDPSourcePort(a.FlowLabel),
		TOS: a.TrafficClass, TTL: a.HopLimit,
	}
	cmd.IP, cmd.V6 = address(a.GID)
	c.dev.Try(cmd, func(_ uint32, err error) { done(cmd.Handle, err) })
}

// address returns the IP address of a GID; v6 is false for ::ffff:a.b.c.d.
func address(gid [16]byte) (ip [16]byte, v6 bool) {
	const v4At = 12
	if [v4At]byte(gid[:v4At]) == [v4At]byte{10: 0xff, 11: 0xff} {
		copy(ip[:], gid[v4At:])
		return ip, false
	}
	return gid, true
}

// DestroyAH implements verbs.Context. The NIC has no command for it, and keeps the address.
func (c *Context) DestroyAH(ah verbs.AH, done func(error)) {
	err := c.objects.Destroy("destroy_ah", verbs.Object{Kind: verbs.KindAH, Number: uint32(ah)})
	if err == nil {
		delete(c.ahs, ah)
	}
	done(err)
}

// OnAsync implements verbs.Context.
func (c *Context) OnAsync(f func(verbs.AsyncEvent)) { c.async = f }

func (c *Context) notify(e verbs.AsyncEvent) {
	if c.async != nil {
		c.async(e)
	}
}

// logOf returns log2 of the smallest ring with n entries.
func logOf(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

var _ verbs.Context = (*Context)(nil)
