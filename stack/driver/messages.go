package driver

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// Vector is a word of memory that the NIC writes as an MSI-X message [M1]. Queues may share one.
type Vector struct {
	d    *Driver
	bus  Bus
	addr uint64
	data uint32
	f    func()
	stop func()
	word [4]byte
	read func(error) // handles the end of the read of the message
	busy bool        // a read of the message is in flight
}

// Moderation controls how completion entries are grouped into messages [M2].
type Moderation struct {
	Vector *Vector // nil: the queue sends no messages
	Count  int     // completion entries per message; 0 counts as 1
	Cycles int     // longest delay of an entry, in cycles of the NIC's clock, a multiple of 64; 0: no limit
}

// NewVector allocates a vector in an endpoint's memory. It calls f when a message has arrived; messages in quick
// succession may share a call.
func (d *Driver) NewVector(bus Bus, endpoint int, data uint32, f func()) (*Vector, error) {
	if f == nil {
		return nil, fmt.Errorf("driver: vector %#x has no handler", data)
	}
	if bus == nil {
		bus = d.bus
	}
	v := &Vector{d: d, bus: bus, data: data, f: f}
	v.read = v.message
	var err error
	if v.addr, err = d.Alloc(endpoint, 4, 4); err != nil {
		return nil, err
	}
	d.uses.Mark(v.addr, 4, UseMessages)
	if v.stop, err = bus.Watch(v.addr, 4, v.readMessage); err != nil {
		return nil, errors.Join(err, d.Free(v.addr))
	}
	return v, nil
}

// Close frees the vector. The queues that use it must be off.
func (v *Vector) Close() error {
	v.stop()
	return v.d.Free(v.addr)
}

// readMessage reads the message, unless a read is in flight. f is called after the read, so it sees the entries of
// messages that arrived meanwhile.
func (v *Vector) readMessage() {
	if !v.busy {
		v.busy = true
		v.bus.Read(v.addr, v.word[:], v.read)
	}
}

func (v *Vector) message(err error) {
	v.busy = false
	v.d.check(err)
	if got := binary.LittleEndian.Uint32(v.word[:]); err == nil && got != v.data {
		v.d.breach("M1", "message at %#x is %#x, want %#x", v.addr, got, v.data)
	}
	if v.d.err == nil {
		v.f()
	}
}

// fields sets the moderation fields of a queue's table entry.
func (m *Moderation) fields(d *Driver, addr *uint64, data *uint32, count, cycles *uint16) error {
	if m.Vector == nil {
		if m.Count != 0 || m.Cycles != 0 {
			return fmt.Errorf("driver: moderation (%d entries, %d cycles) without vector", m.Count, m.Cycles)
		}
		return nil
	}
	if err := d.needPart(nicspec.PartMsix, "messages", "msix"); err != nil {
		return err
	}
	const unit = 64 // cycles
	if m.Cycles < 0 || m.Cycles%unit != 0 || m.Cycles/unit > 0xffff {
		return fmt.Errorf("driver: messages after %d cycles: want a multiple of %d, up to %d", m.Cycles, unit,
			unit*0xffff)
	}
	if m.Count < 0 || m.Count > 0xffff {
		return fmt.Errorf("driver: messages after %d entries: want 0 to %d", m.Count, 0xffff)
	}
	*addr, *data, *count, *cycles = m.Vector.addr, m.Vector.data, uint16(m.Count), uint16(m.Cycles/unit)
	return nil
}
