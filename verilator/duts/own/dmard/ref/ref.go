// Package ref is the reference of the device dmard: a host that answers its read requests, the RAM behind
// its lanes, and the contents that the RAM must have when a descriptor is done.
package ref

import (
	"fmt"
	"slices"

	"nictwin/models/ref"
)

// Reference answers read requests from host memory. When the status of a descriptor arrives, it compares the range that
// the descriptor names in the RAM with that in host memory.
func Reference(p *ref.Player) {
	host, ram, jobs := p.NewMemory("host"), p.NewMemory("RAM"), map[uint64]*ref.Msg{}
	completer := p.NewCompleter("completion", &ref.Segments{Count: 2, Data: "data", Valid: "used", Start: "sop",
		End: "eop"})
	how := ref.CompleterConfig{MPS: 256, RCB: 64}
	p.Order("status", "tag")
	p.On("config", func(m *ref.Msg) { how.Most = 128 << m.U("max_read_request_size") })
	p.On("desc", func(m *ref.Msg) {
		jobs[m.U("tag")] = m
		p.Expect("status", ref.Fields{"tag": m.U("tag")}, nil)
	})
	p.On("request", func(m *ref.Msg) {
		raw := m.B("hdr")
		slices.Reverse(raw)     // double word 0 is in the highest bits
		n := 12 + raw[0]>>5&1*4 // bytes of the TLP header: three double words, or four if bit 5 is set
		completer.Read(m, raw[:n], host, how)
	})
	const lanes, laneBytes = 4, 8 // of the RAM
	for lane := range uint64(lanes) {
		p.On(fmt.Sprintf("ram%d", lane), func(m *ref.Msg) {
			ram.WriteStrobed((m.U("addr")*lanes+lane)*laneBytes, m.B("data"), m.B("be"))
		})
	}
	p.On("status", func(m *ref.Msg) {
		if job := jobs[m.U("tag")]; job != nil {
			p.Same(ram, job.U("ram_addr"), host, job.U("pcie_addr"), int(job.U("len")), job.String())
		}
	})
}
