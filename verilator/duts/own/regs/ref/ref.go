// Package ref is the reference of device `regs`: the registers that the header of axil_regs.sv describes.
package ref

import "nictwin/models/ref"

const id, status, events, scratch, mask = 0x00, 0x04, 0x08, 0x0c, 0x10 // addresses

var response = map[bool]int{true: 0, false: 2} // OKAY, SLVERR

// Reference models the registers.
func Reference(p *ref.Player) {
	regs := map[uint64]uint64{id: 0x4e540001}
	writable := map[uint64]uint64{status: 0xffff, scratch: 0xffffffff, mask: 0xffff}
	var addrs, data []*ref.Msg // addresses of writes without data yet, and data of writes without an address yet
	write := func() {
		for len(addrs) > 0 && len(data) > 0 {
			at, v, strobe := addrs[0].U("addr"), data[0].U("data"), data[0].U("strb")
			addrs, data = addrs[1:], data[1:]
			bits, ok := writable[at]
			bits &= strobe * 0x204081 & 0x1010101 * 0xff // spreads each strobe over the bits of its byte
			if at == status {                            // writing ones clears
				v = regs[at] &^ v
			}
			regs[at] = regs[at]&^bits | v&bits
			p.Expect("b", ref.Fields{"resp": response[ok]}, nil)
		}
	}
	p.On("event", func(m *ref.Msg) { regs[status] |= m.U("bits"); regs[events]++ })
	p.On("aw", func(m *ref.Msg) { addrs = append(addrs, m); write() })
	p.On("w", func(m *ref.Msg) { data = append(data, m); write() })
	p.On("ar", func(m *ref.Msg) {
		at := m.U("addr")
		p.Expect("r", ref.Fields{"data": regs[at], "resp": response[at%4 == 0 && at <= mask]}, nil)
		if at == events {
			regs[at] = 0
		}
	})
}
