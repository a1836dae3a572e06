package root

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// MMIO is access to a device's registers under one requester ID, with tags of its own.
type MMIO struct {
	r       *Root
	id      uint16
	bar     uint64    // bus address of the registers
	reads   []regRead // by tag
	pending int
}

type regRead struct {
	busy bool
	off  uint32
	n    int
	due  simcore.Ps
	done func(value uint64, err error)
}

// RegError reports a register access that failed. If the NIC is at fault, it wraps a
// *boundary.ContractError.
type RegError struct {
	Off uint32
	Err error
}

var _ error = (*RegError)(nil)

func (e *RegError) Error() string { return fmt.Sprintf("NIC register %#x: %v", e.Off, e.Err) }

// Unwrap returns the cause.
func (e *RegError) Unwrap() error { return e.Err }

// ErrNoTag reports that register reads in flight use all of the requester's tags.
var ErrNoTag = errors.New("all tags for register reads are in use")

// MMIO returns the register access of a requester ID. Calls with the same ID return the same one.
func (r *Root) MMIO(requester uint16) *MMIO { return r.MMIOAt(requester, nicspec.BarBase) }

// MMIOAt returns the access of a requester ID to the registers of another device behind a switch, at
// the given bus address. An ID accesses one device only: a later call with the same ID returns the
// first one's access.
func (r *Root) MMIOAt(requester uint16, bar uint64) *MMIO {
	if m := r.mmioOf(requester); m != nil {
		return m
	}
	m := &MMIO{r: r, id: requester, bar: bar, reads: make([]regRead, r.spec.Tags)}
	r.mmio = append(r.mmio, m)
	return m
}

func (r *Root) mmioOf(requester uint16) *MMIO {
	for _, m := range r.mmio {
		if m.id == requester {
			return m
		}
	}
	return nil
}

// Write32 writes a register. The write is posted; later reads by any requester see it.
func (m *MMIO) Write32(off uint32, v uint32) error {
	return m.Write(off, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
}

// foreign returns an error if completions for the requester's ID are not routed to this root.
func (m *MMIO) foreign(off uint32) error {
	if m.r.requesters == nil || slices.Contains(m.r.requesters, m.id) {
		return nil
	}
	return &RegError{off,
		fmt.Errorf("requester %#x is not one of %s, which has %#x: its completions would go elsewhere",
			m.id, m.r.Name(), m.r.requesters)}
}

// Write writes `b` to the register space at offset `off`, as one TLP.
func (m *MMIO) Write(off uint32, b []byte) error {
	if err := m.foreign(off); err != nil {
		return err
	}
	p := m.r.tlps.Get()
	own := p.Own(len(b))
	copy(own, b)
	if err := p.SetMemWrite(tlp.Origin{RequesterID: m.id}, m.bar+uint64(off), own); err != nil {
		m.r.tlps.Put(p)
		return &RegError{off, err}
	}
	m.r.Send(p)
	return nil
}

// Read reads n bytes, 4 or 8, of the register space and calls done with the value. It fails with
// ErrNoTag when too many reads are in flight.
func (m *MMIO) Read(off uint32, n int, done func(value uint64, err error)) error {
	if err := m.foreign(off); err != nil {
		return err
	}
	tag := 0
	for tag < len(m.reads) && m.reads[tag].busy {
		tag++
	}
	if tag == len(m.reads) {
		return &RegError{off, ErrNoTag}
	}
	p := m.r.tlps.Get()
	if err := p.SetMemRead(tlp.Origin{RequesterID: m.id}, uint8(tag), m.bar+uint64(off), n); err != nil {
		m.r.tlps.Put(p)
		return &RegError{off, err}
	}
	m.reads[tag] = regRead{true, off, n, simcore.Now(m.r.sched) + m.r.spec.Timeout, done}
	m.pending++
	m.r.Send(p)
	return nil
}

// complete handles a completion of a register read.
func (r *Root) complete(h *tlp.Header, data []byte) {
	if o := r.outboundOf(h.RequesterID); o != nil {
		o.complete(h, data)
		return
	}
	m := r.mmioOf(h.RequesterID)
	if m == nil && r.OnCompletion != nil {
		r.OnCompletion(h, data)
		return
	}
	if m == nil || int(h.Tag) >= len(m.reads) || !m.reads[h.Tag].busy {
		r.fail(boundary.Breach("G2", "%s received an unexpected completion: %v", r.Name(), h))
		return
	}
	reg := m.reads[h.Tag]
	m.reads[h.Tag] = regRead{}
	m.pending--
	reg.done(reg.value(h, data))
}

// value checks and decodes the completion of a register read.
func (reg *regRead) value(h *tlp.Header, data []byte) (v uint64, err error) {
	switch {
	case h.Kind == tlp.Cpl || h.Status != tlp.StatusSC:
		return 0, &RegError{reg.off, boundary.Breach("G2", "completed with status %v", h.Status)}
	case len(data) != reg.n:
		return 0, &RegError{reg.off, boundary.Breach("G2", "completed with %d bytes, want %d", len(data), reg.n)}
	}
	for i := len(data) - 1; i >= 0; i-- {
		v = v<<8 | uint64(data[i])
	}
	return v, nil
}

// Overdue returns an error when a register read, or a read of an Outbound, has
// waited longer than the spec allows.
func (r *Root) Overdue() error {
	now := simcore.Now(r.sched)
	for _, m := range r.mmio {
		for i := range m.reads {
			if reg := &m.reads[i]; reg.busy && now > reg.due {
				return &RegError{reg.off, boundary.Breach("C3", "no completion within %v", r.spec.Timeout)}
			}
		}
	}
	for _, o := range r.outbounds {
		if err := o.overdue(now); err != nil {
			return err
		}
	}
	return nil
}
