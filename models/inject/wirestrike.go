package inject

import "nictwin/models/format/wire"

// judge sets w.strike, what happens to a frame: by the rules that match it, or else, for a RoCE packet, at random.
func (w *Wire) judge(d Direction, frame []byte) {
	s, p := &w.strike, &w.pkt
	*s = Strike{}
	if s.RoCE = w.flows.meet(d, frame, p); s.RoCE {
		s.PSN, s.Attempt = p.psn, p.attempt
	} else {
		s.PSN = int64(w.others[d])
		*p = packet{key: mix(uint64(d)), raw: uint32(w.others[d])}
		w.others[d]++
	}
	ruled := false
	for i := range w.rules[d] {
		if r := &w.rules[d][i]; r.fits(s, p) {
			w.apply(r, i, frame)
			ruled = true
		}
	}
	if s.RoCE && w.drawn && !ruled {
		w.draw(frame)
	}
}

func (r *WireRule) fits(s *Strike, p *packet) bool {
	if r.Class == ClassOther || !s.RoCE {
		return r.Class == ClassOther && !s.RoCE && s.PSN == int64(r.Ordinal)
	}
	return (r.Class == ClassAny || r.Class == p.class) && (r.QP == nil || *r.QP == p.dest) &&
		(r.Opcode == nil || *r.Opcode == uint8(p.opcode)) &&
		within(p.psn, r.PSN, r.PSNs) && within(int64(p.attempt), r.Attempt, r.Attempts)
}

func within(v int64, first, n int) bool { return v >= int64(first) && v-int64(first) < int64(n) }

// apply adds the effect of r, rule number i of this direction, to w.strike, the effects on the current frame.
func (w *Wire) apply(r *WireRule, i int, frame []byte) {
	s := &w.strike
	switch r.Do {
	case WireLoss:
		s.Lost = true
	case WireDuplication:
		s.Duplicated = true
	case WireDisorder:
		s.Hold = r.Hold
	case WireECN:
		s.Marked = true
	case WireCorruption:
		w.corrupt(r.Part, r.Bit, w.random(streamRule+uint64(i)), len(frame))
	}
}

// corrupt chooses the bit of a part to flip: the one with the given number or, if bit is nil, one by the random
// number drawn. A bit beyond the part's end flips nothing.
func (w *Wire) corrupt(part WirePart, bit *int, drawn uint64, n int) {
	from, to := 0, n
	if at := &w.pkt.place; w.strike.RoCE {
		switch part {
		case PartAny, PartPayload:
			from, to = at.BTH+wire.BTHSize, at.End
		case PartHeaders:
			to = at.BTH + wire.BTHSize
		}
	}
	at, bits := 0, 8*(to-from)
	if bits == 0 {
		return
	}
	if bit == nil {
		at = int(drawn % uint64(bits))
	} else if at = *bit; at >= bits {
		return
	}
	w.strike.Corrupted, w.strike.Part, w.strike.Bit = true, part, 8*from+at
}

// Numbers of the independent random streams of one packet.
const (
	streamLoss uint64 = iota
	streamDuplication
	streamDisorder
	streamCorruption
	streamHeaders
	streamECN
	streamBit
	streamHeaderBit
	streamRule // stream of rule 0; those of further rules follow
)

// draw adds random effects on the current packet to w.strike.
func (w *Wire) draw(frame []byte) {
	s, c := &w.strike, &w.spec.Chances
	s.Lost = w.happens(streamLoss, c.Loss)
	s.Duplicated = w.happens(streamDuplication, c.Duplication)
	s.Marked = w.happens(streamECN, c.ECN)
	if w.happens(streamDisorder, c.Disorder) {
		s.Hold = w.spec.Hold
	}
	if w.happens(streamHeaders, c.Headers) {
		w.corrupt(PartHeaders, nil, w.random(streamHeaderBit), len(frame))
	}
	if w.happens(streamCorruption, c.Corruption) {
		w.corrupt(PartPayload, nil, w.random(streamBit), len(frame))
	}
}

func (w *Wire) happens(stream uint64, share float64) bool {
	return share > 0 && float64(w.random(stream)>>11)/(1<<53) < share
}

// random returns a number of a random stream for the current frame. It depends on the seed, on flow, PSN and
// attempt of a packet, or on the ordinal of a frame that is not RoCE.
func (w *Wire) random(stream uint64) uint64 {
	p := &w.pkt
	return mix(mix(mix(w.spec.Seed+stream)^p.key) + uint64(p.raw)<<32 + uint64(p.attempt))
}
