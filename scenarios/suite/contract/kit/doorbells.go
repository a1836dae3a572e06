package kit

import (
	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// RingDoorbell rings a queue's doorbell for everything posted so far.
func (r *Rig) RingDoorbell(g *Ring) { r.T.Helper(); r.Write(g.Doorbell(), uint32(g.PI)) }

// Doorbell writes any value to a doorbell.
func (r *Rig) Doorbell(rx bool, q int, v uint32) {
	r.T.Helper()
	g := driver.NewRawQueue(!rx, q, 0)
	r.Write(g.Doorbell(), v)
}

// WireLong encodes an entry as the device reads it, all blocks that it names.
func (r *Rig) WireLong(w *LongEntry) []byte {
	e := w.WqeFields
	if !IsCopy(w.Opcode) {
		e.Port = uint8(r.PortOf(int(w.Port)))
	}
	return append(Encode(&e, nicspec.WqeBytes), w.AllSlots()[len(w.Slots):]...)
}
