// Package ref is the reference of the device udpsum: RFC 768 over IPv4.
package ref

import "nictwin/models/ref"

// Reference expects each header with its length and checksum, and its payload unchanged.
func Reference(p *ref.Player) {
	var headers []*ref.Msg
	p.On("hdr", func(m *ref.Msg) { headers = append(headers, m) })
	p.On("pay", func(m *ref.Msg) {
		f, length := headers[0].Fields(), uint64(8+len(m.Data))
		src, dst := headers[0].U("src_ip"), headers[0].U("dst_ip")
		sum := src>>16 + src&0xffff + dst>>16 + dst&0xffff + 17 + length // the pseudo header
		sum += headers[0].U("src_port") + headers[0].U("dst_port") + length
		for i, b := range m.Data {
			sum += uint64(b) << (8 - i%2*8)
		}
		for sum > 0xffff {
			sum = sum>>16 + sum&0xffff
		}
		if f["length"], f["checksum"] = length, 0xffff-sum; sum == 0xffff {
			f["checksum"] = 0xffff // 0 would mean no checksum
		}
		p.Expect("sum", f, nil)
		p.Expect("fwd", nil, m.Data)
		headers = headers[1:]
	})
}
