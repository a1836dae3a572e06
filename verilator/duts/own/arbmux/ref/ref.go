// Package ref is the reference of the device arbmux: frames of a port keep their order, and the n-th header
// and the n-th payload at the output belong to the same frame.
package ref

import (
	"fmt"

	"nictwin/models/ref"
)

// Reference expects the headers of each port in order, and payloads in the order of the headers. A payload may come out
// before its header.
func Reference(p *ref.Player) {
	given, taken := [4][]*ref.Msg{}, 0 // payloads sent in and not yet compared, by port; their total number
	var headers, payloads []*ref.Msg   // headers that came out before their payload, and the reverse
	match := func() {
		for len(headers) > 0 && len(payloads) > 0 {
			port := headers[0].U("port")
			if len(given[port]) == 0 {
				p.Wrong(payloads[0], "payload", fmt.Sprintf("to be of port %d", port), "more than it was given")
				return
			}
			p.WantData(payloads[0], given[port][0].Data)
			headers, payloads, given[port], taken = headers[1:], payloads[1:], given[port][1:], taken-1
		}
	}
	for i := range given {
		p.On(fmt.Sprintf("hdr%d", i), func(m *ref.Msg) {
			p.Expect("hdr", ref.Fields{"data": m.U("data"), "port": i}, nil)
		})
		p.On(fmt.Sprintf("pay%d", i), func(m *ref.Msg) { given[i], taken = append(given[i], m), taken+1 })
	}
	p.On("hdr", func(m *ref.Msg) { headers = append(headers, m); match() })
	p.On("pay", func(m *ref.Msg) { payloads = append(payloads, m); match() })
	p.Done(func() bool { return taken == 0 })
}
