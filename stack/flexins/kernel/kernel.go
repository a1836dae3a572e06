// Package kernel is the kernel module of a host with FlexiNS: it checks the
// rights of control verbs, numbers objects, and says which data core serves a queue
// pair. What it lets through goes on to the card's control core.
//
// It knows neither pipes nor memory: the library calls it where an application would
// enter the kernel, and pays for that.
package kernel

import (
	"fmt"
	"math/bits"

	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// Module is the kernel module of a card.
type Module struct {
	Objects *verbs.Objects

	attr   verbs.DeviceAttr
	cores  int
	shared *pipe.Shared
	next   []uint32 // by core: from where a number is looked for
}

// Numbers: queue pairs 0 and 1 are the subnet's (IBTA 10.2.4.2); shared receive queues have the upper half of 24 bits, as a
// receive entry names either.
const (
	firstQP  = 2
	firstSRQ = 1 << 23
	maxPDs   = 1 << 12
	maxAHs   = 1 << 16
)

// New returns the module of a card with so many data cores.
func New(cores int, attr verbs.DeviceAttr) (*Module, error) {
	shared, err := pipe.NewShared(cores)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	m := &Module{attr: attr, cores: cores, shared: shared, next: make([]uint32, cores)}
	m.Objects = verbs.NewObjects(map[verbs.Kind]verbs.Numbers{
		verbs.KindPD: {First: 1, Most: maxPDs}, verbs.KindMR: {Most: attr.MaxMR}, verbs.KindCQ: {First: 1, Most: attr.MaxCQ}, verbs.KindQP: {Most: attr.MaxQP},
		verbs.KindAH: {First: 1, Most: maxAHs}, verbs.KindSRQ: {Most: attr.MaxSRQ},
	})
	return m, nil
}

// Attr is what the card can do.
func (m *Module) Attr() *verbs.DeviceAttr { return &m.attr }

// Mask is the low bits of a number that name a core.
func (m *Module) Mask() uint32 { return 1<<bits.Len(uint(m.cores-1)) - 1 }

// QP numbers a queue pair. Raw packets reach the first core only; those with a shared receive queue go to its core; others to
// the core with the fewest (FN 3.2).
func (m *Module) QP(t verbs.QPType, srq uint32, hasSRQ bool, uses ...verbs.Object) (qpn uint32, core int, err error) {
	switch {
	case hasSRQ:
		core = int(srq & m.Mask())
	case t == verbs.QPTRawPacket:
	default:
		core = m.shared.Assign()
	}
	release := func() {
		if !hasSRQ && t != verbs.QPTRawPacket {
			_ = m.shared.Release(core)
		}
	}
	n, err := m.number("create_qp", verbs.KindQP, core, firstQP, uint32(m.attr.MaxQP))
	if err == nil {
		err = m.Objects.Add("create_qp", verbs.Object{Kind: verbs.KindQP, Number: n}, uses...)
	}
	if err != nil {
		release()
	}
	return n, core, err
}

// number is a free number of a kind that names a core.
func (m *Module) number(verb string, k verbs.Kind, core int, first, most uint32) (uint32, error) {
	step := m.Mask() + 1
	for i := range most {
		n := m.next[core] + i
		if n >= most {
			n -= most
		}
		if x := first&^m.Mask() + (n+1)*step + uint32(core); !m.Objects.Has(verbs.Object{Kind: k, Number: x}) {
			m.next[core] = (n + 1) % most
			return x, nil
		}
	}
	return 0, verbs.Errorf(verb, verbs.ENOMEM, "all %d numbers of kind %v of data core %d are in use", most, k, core)
}

// EndQP ends a queue pair.
func (m *Module) EndQP(t verbs.QPType, qpn uint32, hasSRQ bool) error {
	err := m.Objects.Destroy("destroy_qp", verbs.Object{Kind: verbs.KindQP, Number: qpn})
	if err == nil && !hasSRQ && t != verbs.QPTRawPacket {
		err = m.shared.Release(int(qpn & m.Mask()))
	}
	return err
}

// SRQ numbers a shared receive queue, on the core with the fewest queue pairs.
func (m *Module) SRQ(pd verbs.Object) (uint32, error) {
	core := 0
	for i := range m.cores {
		if m.shared.Queues(i) < m.shared.Queues(core) {
			core = i
		}
	}
	n, err := m.number("create_srq", verbs.KindSRQ, core, firstSRQ, uint32(m.attr.MaxSRQ))
	if err == nil {
		err = m.Objects.Add("create_srq", verbs.Object{Kind: verbs.KindSRQ, Number: n}, pd)
	}
	return n, err
}
