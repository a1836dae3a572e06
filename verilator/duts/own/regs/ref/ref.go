// Package ref is the reference of the device regs: its registers, as the header of axil_regs.sv has them.
package ref

import "nictwin/models/ref"

const (
	id, status, events, scratch, mask = 0x00, 0x04, 0x08, 0x0c, 0x10 // addresses
	okay, slverr                      = 0, 2                         // responses
)

// Reference keeps the registers.
func Reference(p *ref.Player) {
	regs := map[uint64]uint64{id: 0x4e540001, status: 0, events: 0, scratch: 0, mask: 0}
	var addrs, data []*ref.Msg // halves of writes that wait for the other half
	write := func() {
		if len(addrs) == 0 || len(data) == 0 {
			return
		}
		at, v, bits, resp := addrs[0].U("addr"), data[0].U("data"), uint64(0), okay
		for i := range 4 {
			bits |= data[0].U("strb") >> i & 1 * 0xff << (8 * i)
		}
		addrs, data = addrs[1:], data[1:]
		switch at {
		case status:
			regs[at] &^= v & bits
		case scratch:
			regs[at] = regs[at]&^bits | v&bits
		case mask:
			regs[at] = (regs[at]&^bits | v&bits) & 0xffff
		default:
			resp = slverr
		}
		p.Expect("b", ref.Fields{"resp": resp}, nil)
	}
	p.On("event", func(m *ref.Msg) { regs[status] |= m.U("bits"); regs[events]++ })
	p.On("aw", func(m *ref.Msg) { addrs = append(addrs, m); write() })
	p.On("w", func(m *ref.Msg) { data = append(data, m); write() })
	p.On("ar", func(m *ref.Msg) {
		if v, ok := regs[m.U("addr")]; ok {
			p.Expect("r", ref.Fields{"data": v, "resp": okay}, nil)
		} else {
			p.Expect("r", ref.Fields{"data": 0, "resp": slverr}, nil)
		}
		if m.U("addr") == events {
			regs[events] = 0
		}
	})
}
