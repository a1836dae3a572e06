package path

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/ceio/device"
)

// orderBytes is the length of a packet's entry in the table that keeps the order without Spec.SoftwareRing: a line, as
// packet descriptors of user-level drivers are one or two. Assumption.
const orderBytes = nicspec.LineBytes

// openOrder allocates the table of a flow: an entry for each packet that can wait.
func (p *path) openOrder() (err error) {
	if p.s.c.Spec.SoftwareRing {
		return nil
	}
	p.order, err = p.c.Driver.Alloc(nicspec.EndpointHost, uint64(p.orderSlots())*orderBytes, orderBytes)
	return err
}

func (p *path) orderSlots() int { return p.s.c.Spec.FastSlots + p.s.c.Spec.SlowSlots }

// sort charges the core for a packet's entry in the table, which it writes and reads when it hands the packet over.
// Packets of the shared ring have one ring and no entry.
func (p *path) sort(k *device.Packet) {
	if p.order == 0 {
		return
	}
	core, at := p.c.Bus.Core(), p.order+uint64(k.Cqe().AccountSeq())%uint64(p.orderSlots())*orderBytes
	var entry [16]byte
	binary.LittleEndian.PutUint64(entry[:], k.Address)
	binary.LittleEndian.PutUint32(entry[8:], uint32(k.Bytes))
	p.s.d.Check(core.Store(at, entry[:]))
	p.s.d.Check(core.Load(at, entry[:]))
	core.Compute(p.s.c.Spec.PacketCycles)
}
