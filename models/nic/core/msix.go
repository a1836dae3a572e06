package core

import "nictwin/models/nic/nicspec"

// Vector describes a queue's messages and when they are sent [M1, M2]. The zero Vector sends none.
type Vector struct {
	Addr   uint64 // bus address, a multiple of 4; 0: no messages
	Data   uint32
	Count  uint16 // entries that make a message due; 0 counts as 1
	Cycles uint16 // longest wait of an entry, in units of ModUnit cycles; 0: no limit
}

// ModUnit is the unit of Vector.Cycles [M2].
const ModUnit = 64

// vector returns the Vector of a table entry, or the zero Vector if the build lacks part msix [N2].
func (r *Regs) vector(addr uint64, data uint32, count, cycles uint16) Vector {
	if !r.build.Has(nicspec.PartMsix) {
		return Vector{}
	}
	return Vector{addr, data, count, cycles}
}

// badVector reports whether an address is not valid for a queue's messages [M1].
func (r *Regs) badVector(addr uint64) bool {
	const align = 4
	return r.build.Has(nicspec.PartMsix) && addr%align != 0
}

// Moderator decides when the messages of one queue fall due [M2..M4].
type Moderator struct {
	unreported int
	at         int64 // cycle at which the message is due, if there is an unreported entry
	closing    bool
}

// Wrote records that the NIC sent a completion entry of the queue to memory in a cycle; event: the entry is an Event.
func (m *Moderator) Wrote(v *Vector, event bool, cycle int64) {
	if v.Addr == 0 {
		return
	}
	if m.unreported == 0 {
		m.at = Never
		if v.Cycles != 0 {
			m.at = cycle + ModUnit*int64(v.Cycles)
		}
	}
	m.unreported++
	if event || m.closing || m.unreported >= max(int(v.Count), 1) {
		m.at = min(m.at, cycle)
	}
}

// Close records that the queue is being disabled: unreported entries are reported at once [M4].
func (m *Moderator) Close(cycle int64) {
	m.closing = true
	m.at = min(m.at, cycle)
}

// Unreported returns the number of entries that no message has reported.
func (m *Moderator) Unreported() int { return m.unreported }

// DueAt returns the cycle in which a message fell due, or will fall due because its oldest entry
// has waited long enough. It returns Never if no message is due or will be.
func (m *Moderator) DueAt() int64 {
	if m.unreported == 0 {
		return Never
	}
	return m.at
}

// Sent records that a message left, which reports all entries [M3].
func (m *Moderator) Sent() { m.unreported = 0 }

// Reset starts over when the queue is enabled.
func (m *Moderator) Reset() { *m = Moderator{} }
