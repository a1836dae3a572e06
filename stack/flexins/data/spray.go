package data

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/stack/transport"
)

// validateSpray rejects spraying over transports that cannot take its reordering.
func (s *Spec) validateSpray() error {
	const ports, reorder = 1 << 14, 1024
	switch {
	case s.SprayPorts < 2 || s.SprayPorts > ports:
		return field.Errorf("spray_ports", "%d: want 2 to %d", s.SprayPorts, ports)
	case s.SprayReorder < 0 || s.SprayReorder > reorder:
		return field.Errorf("spray_reorder_packets", "%d: want 0 to %d", s.SprayReorder, reorder)
	case s.Spray && s.Recovery == transport.GoBackN:
		return field.Errorf("spray", "true with %v %d, go-back-N, which counts every overtaken packet as lost: "+
			"want %v %d, selective repeat, or false",
			field.Path("recovery"), transport.GoBackN, field.Path("recovery"), transport.SelectiveRepeat)
	}
	return nil
}

// sprays reports whether the packets of a service are sprayed; the other services rely on their order.
func (s *Spec) sprays(k transport.Kind) bool {
	return s.Spray && (k == transport.RC || k == transport.Solar)
}

// spray sets the fields of a connection's spec that spraying needs.
func (s *Spec) spray(t *transport.Spec) {
	if s.sprays(t.Kind) {
		t.SprayPorts, t.ReorderPackets = s.SprayPorts, s.SprayReorder
		t.SprayFrom = rand.New(rand.NewPCG(s.SpraySeed, uint64(t.QPN))).IntN(s.SprayPorts)
	}
}

// hasRoom reports whether each port through which a packet of a queue pair may leave has room for it.
func (c *core) hasRoom(q *qp) bool {
	if !q.sprayed {
		return c.tx[q.port].Room() >= nicspec.WqeBlocksMax
	}
	for _, s := range c.tx {
		if s.Room() < nicspec.WqeBlocksMax {
			return false
		}
	}
	return true
}

// portOf returns the port through which a packet leaves. A sprayed packet's UDP source port selects it; switches on its
// path may use that port number, too.
func (q *qp) portOf(o *transport.Out) int {
	if !q.sprayed {
		return q.port
	}
	l4 := etherBytes + ipv4Bytes
	if o.Head[12] == 0x86 {
		l4 = etherBytes + ipv6Bytes
	}
	return int(binary.BigEndian.Uint16(o.Head[l4:])) % len(q.core.tx)
}
