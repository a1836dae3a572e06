package bench

import (
	"slices"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
	"nictwin/scenarios/replay"
	"nictwin/stack/driver"
)

// meter notes the cycles of what crosses a NIC's boundary.
type meter struct {
	run   *replay.Run
	rings []driver.Layout // receive
	in    []beats
	out   []beats
	done  []int64 // cycles in which completion entries were written
}

// beats are the first and the last cycle of a frame.
type beats struct{ first, last int64 }

// Observe takes a crossing.
func (m *meter) Observe(c boundary.Crossing) {
	switch c.Kind {
	case boundary.FrameIn:
		m.in = append(m.in, beats{c.First, c.Last})
	case boundary.FrameOut:
		m.out = append(m.out, beats{c.First, c.Last})
	case boundary.TLPOut:
		if len(c.TLP.Data) == nicspec.CqeBytes && m.isEntry(c.TLP) {
			m.done = append(m.done, c.Last)
		}
	}
}

func (m *meter) isEntry(p *tlp.Packet) bool {
	h := tlp.Parse(&p.Hdr)
	if h.Kind != tlp.MWr {
		return false
	}
	if m.rings == nil {
		for _, q := range m.run.ReceiveQueues() {
			m.rings = append(m.rings, q.Layout())
		}
	}
	return slices.ContainsFunc(m.rings, func(l driver.Layout) bool { return l.CQContains(h.Address) })
}

// steady is the part of n things that is looked at: neither the beginning nor the end.
func steady(n int) (from, to int) { return n / 4, n - n/10 }

// perFrame is the cycles between completion entries in steady state; 0 if there were too few.
func (m *meter) perFrame() float64 {
	from, to := steady(len(m.done))
	if to-from < 2 {
		return 0
	}
	return float64(m.done[to-1]-m.done[from]) / float64(to-1-from)
}

// offered is the cycles between frames in, in steady state.
func (m *meter) offered() float64 {
	from, to := steady(len(m.in))
	if to-from < 2 {
		return 0
	}
	return float64(m.in[to-1].last-m.in[from].last) / float64(to-1-from)
}

// sending is the share of cycles in which frames went out, from the first to the last frame in steady state, and the
// cycles among them in which none did: bubbles between frames.
func (m *meter) sending(beatsPerFrame int) (rate float64, bubbles int64) {
	from, to := steady(len(m.out))
	if to-from < 2 {
		return 0, 0
	}
	busy := int64(to-1-from) * int64(beatsPerFrame)
	all := m.out[to-1].last - m.out[from].last
	return float64(busy) / float64(all), all - busy
}
