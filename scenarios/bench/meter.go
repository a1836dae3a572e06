package bench

import (
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/replay"
	"nictwin/stack/driver"
)

// meter records the cycles of crossings at a NIC's boundary.
type meter struct {
	run   *replay.Run
	rings []driver.Layout // receive rings
	sends []driver.Layout // transmit rings
	in    []beats
	out   []beats
	done  []int64 // cycles in which completion entries left
	reads int     // memory read requests, except reads of transmit rings
}

// beats holds the first and the last cycle of a frame.
type beats struct{ first, last int64 }

// Observe records a crossing.
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
		if m.isRead(c.TLP) {
			m.reads++
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

// isRead reports whether a TLP reads memory, other than work entries.
func (m *meter) isRead(p *tlp.Packet) bool {
	h := tlp.Parse(&p.Hdr)
	if h.Kind != tlp.MRd {
		return false
	}
	if m.sends == nil {
		for _, q := range m.run.TransmitQueues() {
			m.sends = append(m.sends, q.Layout())
		}
	}
	return !slices.ContainsFunc(m.sends, func(l driver.Layout) bool { return l.Contains(h.Address) })
}

// steady returns the range of the n recorded events that is evaluated. It leaves out the first quarter and the last
// tenth, in which rings fill and drain.
func steady(n int) (from, to int) { return n / 4, n - n/10 }

// perFrame returns the cycles between completion entries in steady state; 0 if there were too few.
func (m *meter) perFrame() float64 {
	from, to := steady(len(m.done))
	if to-from < 2 {
		return 0
	}
	return float64(m.done[to-1]-m.done[from]) / float64(to-1-from)
}

// offered returns the cycles between incoming frames in steady state.
func (m *meter) offered() float64 {
	from, to := steady(len(m.in))
	if to-from < 2 {
		return 0
	}
	return float64(m.in[to-1].last-m.in[from].last) / float64(to-1-from)
}

// readsPerFrame returns the memory read requests per frame sent, over the whole run.
func (m *meter) readsPerFrame() float64 { return ratio(float64(m.reads), float64(len(m.out))) }

// betweenOut returns the cycles between outgoing frames in steady state; 0 if there were too few.
func (m *meter) betweenOut() float64 {
	from, to := steady(len(m.out))
	if to-from < 2 {
		return 0
	}
	return float64(m.out[to-1].last-m.out[from].last) / float64(to-1-from)
}

// sending returns the share of cycles in which a beat of a frame left, from the first to the last frame in steady
// state, and the number of cycles without one.
func (m *meter) sending(beatsPerFrame int) (rate float64, bubbles int64) {
	from, to := steady(len(m.out))
	if to-from < 2 {
		return 0, 0
	}
	busy := int64(to-1-from) * int64(beatsPerFrame)
	all := m.out[to-1].last - m.out[from].last
	return float64(busy) / float64(all), all - busy
}
