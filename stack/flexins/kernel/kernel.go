// Package kernel is the kernel module of a FlexiNS host: it checks the rights of control verbs, numbers objects, and
// chooses the data core that serves a queue pair. Verbs that pass go on to the card's control core.
//
// Each process that has opened the device has its own objects, and can name no others.
//
// The package knows neither pipes nor memory: the library calls it where an application would enter the kernel, and
// charges for that.
package kernel

import (
	"fmt"
	"math/bits"

	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// Module is the kernel module of a card.
type Module struct {
	objects *verbs.Objects

	attr   verbs.DeviceAttr
	cores  int
	shared *pipe.Shared
	next   []uint32 // by core: index at which the search for a free number of a queue pair or SRQ starts
}

// Ranges of object numbers. Queue pairs 0 and 1 are reserved (IBTA 10.2.4.2); shared receive queues use the upper half
// of the 24-bit numbers, because a receive entry names either kind by its number.
const (
	firstQP  = 2
	firstSRQ = 1 << 23
	maxPDs   = 1 << 12
	maxAHs   = 1 << 16
)

// New returns the module of a card with the given number of data cores.
func New(cores int, attr verbs.DeviceAttr) (*Module, error) {
	shared, err := pipe.NewShared(cores)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	m := &Module{attr: attr, cores: cores, shared: shared, next: make([]uint32, cores)}
	m.objects = verbs.NewObjects(map[verbs.Kind]verbs.Numbers{
		verbs.KindPD: {First: 1, Count: maxPDs}, verbs.KindMR: {Count: attr.MaxMR},
		verbs.KindCQ: {First: 1, Count: attr.MaxCQ}, verbs.KindQP: {Count: attr.MaxQP},
		verbs.KindAH: {First: 1, Count: maxAHs}, verbs.KindSRQ: {Count: attr.MaxSRQ},
	})
	return m, nil
}

// Attr returns the device attributes of the card.
func (m *Module) Attr() *verbs.DeviceAttr { return &m.attr }

// Mask returns the mask of those low bits of a QP or SRQ number that hold the number of its data core.
func (m *Module) Mask() uint32 { return 1<<bits.Len(uint(m.cores-1)) - 1 }

// Process is the view that one process has of the kernel module.
type Process struct {
	*Module
	own map[verbs.Object]bool
}

// Open returns a process without objects.
func (m *Module) Open() *Process { return &Process{Module: m, own: map[verbs.Object]bool{}} }

// Has reports whether the process has an object.
func (p *Process) Has(x verbs.Object) bool { return p.own[x] }

// mayUse returns an error if the process lacks an object.
func (p *Process) mayUse(verb string, uses []verbs.Object) error {
	for _, u := range uses {
		if !p.own[u] {
			return verbs.Errorf(verb, verbs.EINVAL, "%v does not exist", u)
		}
	}
	return nil
}

// Create creates an object with the lowest free number, and marks the objects that it depends on, `uses`, as in use.
func (p *Process) Create(verb string, k verbs.Kind, uses ...verbs.Object) (uint32, error) {
	if err := p.mayUse(verb, uses); err != nil {
		return 0, err
	}
	n, err := p.objects.Create(verb, k, uses...)
	if err == nil {
		p.own[verbs.Object{Kind: k, Number: n}] = true
	}
	return n, err
}

// Add creates an object with a number that the caller chose, and marks the objects that it depends on, `uses`, as in
// use.
func (p *Process) Add(verb string, x verbs.Object, uses ...verbs.Object) error {
	err := p.mayUse(verb, uses)
	if err == nil {
		err = p.objects.Add(verb, x, uses...)
	}
	if err == nil {
		p.own[x] = true
	}
	return err
}

// Destroy destroys an unused object of the process.
func (p *Process) Destroy(verb string, x verbs.Object) error {
	if err := p.mayUse(verb, []verbs.Object{x}); err != nil {
		return err
	}
	err := p.objects.Destroy(verb, x)
	if err == nil {
		delete(p.own, x)
	}
	return err
}

// QP assigns a number to a queue pair; its low bits select a data core. Raw packets reach the first core only; queue
// pairs with a shared receive queue go to that queue's core, others to the core with the fewest send queues (FN 3.2).
func (p *Process) QP(t verbs.QPType, srq uint32, hasSRQ bool, uses ...verbs.Object) (qpn uint32, core int, err error) {
	switch {
	case hasSRQ:
		core = int(srq & p.Mask())
	case t == verbs.QPTRawPacket:
	default:
		core = p.shared.Assign()
	}
	release := func() {
		if !hasSRQ && t != verbs.QPTRawPacket {
			_ = p.shared.Release(core)
		}
	}
	n, err := p.number("create_qp", verbs.KindQP, core, firstQP, uint32(p.attr.MaxQP))
	if err == nil {
		err = p.Add("create_qp", verbs.Object{Kind: verbs.KindQP, Number: n}, uses...)
	}
	if err != nil {
		release()
	}
	return n, core, err
}

// number returns a free number of a kind whose low bits select the core.
func (m *Module) number(verb string, k verbs.Kind, core int, first, most uint32) (uint32, error) {
	step := m.Mask() + 1
	for i := range most {
		n := m.next[core] + i
		if n >= most {
			n -= most
		}
		if x := first&^m.Mask() + (n+1)*step + uint32(core); !m.objects.Has(verbs.Object{Kind: k, Number: x}) {
			m.next[core] = (n + 1) % most
			return x, nil
		}
	}
	return 0, verbs.Errorf(verb, verbs.ENOMEM, "all %d numbers of kind %v of data core %d are in use", most, k, core)
}

// EndQP removes a queue pair, and frees its number.
func (p *Process) EndQP(t verbs.QPType, qpn uint32, hasSRQ bool) error {
	err := p.Destroy("destroy_qp", verbs.Object{Kind: verbs.KindQP, Number: qpn})
	if err == nil && !hasSRQ && t != verbs.QPTRawPacket {
		err = p.shared.Release(int(qpn & p.Mask()))
	}
	return err
}

// SRQ assigns a number to a shared receive queue, on the core with the fewest queue pairs.
func (p *Process) SRQ(pd verbs.Object) (uint32, error) {
	core := 0
	for i := range p.cores {
		if p.shared.Queues(i) < p.shared.Queues(core) {
			core = i
		}
	}
	n, err := p.number("create_srq", verbs.KindSRQ, core, firstSRQ, uint32(p.attr.MaxSRQ))
	if err == nil {
		err = p.Add("create_srq", verbs.Object{Kind: verbs.KindSRQ, Number: n}, pd)
	}
	return n, err
}
