package tlp

import "testing"

func BenchmarkDecode(b *testing.B) {
	wire := unhex(b, headerVectors[1].wire)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(&wire); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	h := headerVectors[1].hdr
	var wire [HeaderBytes]byte
	b.ReportAllocs()
	for b.Loop() {
		if err := h.Encode(&wire); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMonitorWrite measures the check of one write of 64 bytes.
func BenchmarkMonitorWrite(b *testing.B) {
	m := newTestMonitor(b, nil)
	p, _ := NewMemWrite(nicOrigin, 0x1000, make([]byte, 64))
	b.ReportAllocs()
	for b.Loop() {
		if len(m.Check(FromDevice, 0, p)) != 0 {
			b.Fatal("refused")
		}
	}
}

// BenchmarkReadRoundTrip measures one read of 512 bytes: the request, its completions of at most
// 128 bytes, and the checks of requester and monitor.
func BenchmarkReadRoundTrip(b *testing.B) {
	m := newTestMonitor(b, nil)
	c := newTestCompleter(b, DefaultLimits(), CplLongest, 0)
	none := func(uint64, []byte) error { return nil }
	var p Packet
	b.ReportAllocs()
	for b.Loop() {
		p.Data = nil
		if err := p.SetMemRead(nicOrigin, 1, 0x1000, 512); err != nil {
			b.Fatal(err)
		}
		bad := len(m.Check(FromDevice, 0, &p))
		h, _ := p.Header()
		r, _ := c.Begin(&h)
		pend := NewPending(&h)
		for r.More() {
			_ = r.Fill(&p, none)
			bad += len(m.Check(ToDevice, 0, &p))
			ch, _ := p.Header()
			if _, _, err := pend.Take(&ch, p.Data); err != nil || bad != 0 {
				b.Fatal(err, bad)
			}
		}
	}
}
