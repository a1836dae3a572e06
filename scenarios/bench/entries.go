package bench

import "nictwin/scenarios/replay"

// inEntry is the layout of frames whose headers are inline in the work entry, which then takes two blocks [T14].
func inEntry(t replay.Trailer) layout {
	l := usual
	l.inline, l.trailer = txHeader, t
	return l
}

// twoBlockRate measures the transmit rate with work entries of two blocks, and with entries of one block for
// comparison.
func twoBlockRate(s *session) ([]Result, error) {
	const size, goal = 512, 0.95
	one, err := s.rate("tx", size, usual)
	if err != nil {
		return nil, err
	}
	two, err := s.rate("tx", size, inEntry(replay.TrailerInPayload))
	if err != nil {
		return nil, err
	}
	rate := func(m *meter) float64 {
		share, _ := m.sending(usual.beatsOf(size))
		return share
	}
	return []Result{figure("nic/two_block_tx_512", rate(two.rtl), "ratio", goal,
		"line rate, a frame every %d cycles; entries of one block: %.3f; Go model: %.3f, of one block %.3f; %d "+
			"queues, headers inline, payload in host memory",
		usual.beatsOf(size), rate(one.rtl), rate(two.model), rate(one.model), txQueues)}, nil
}

// appendSize is the size of frames that end with an ICRC. Their payload is read by one request: it is shorter than MRRS
// and does not cross a page.
const appendSize = 254

// appendGain compares the reads per frame when the NIC appends the ICRC [T15] with those when the ICRC is read from
// memory as a piece.
func appendGain(s *session) ([]Result, error) {
	const goal = 1 // one request per frame, for its payload
	piece, err := s.rate("tx", appendSize, inEntry(replay.TrailerPiece))
	if err != nil {
		return nil, err
	}
	appended, err := s.rate("tx", appendSize, inEntry(replay.TrailerAppended))
	if err != nil {
		return nil, err
	}
	a, p := appended.rtl, piece.rtl
	return []Result{
		limit("nic/append_reads", a.readsPerFrame(), "reads", goal,
			"a frame, but for reads of its ring; with a piece for the ICRC: %.4g; Go model: %.4g, with a piece %.4g; "+
				"%d B, headers inline",
			p.readsPerFrame(), appended.model.readsPerFrame(), piece.model.readsPerFrame(), appendSize),
		limit("nic/append_cycles", a.betweenOut(), "cycles", p.betweenOut(),
			"a frame; with a piece for the ICRC: %.2f; Go model: %.2f, with a piece %.2f; line rate: %d",
			p.betweenOut(), appended.model.betweenOut(), piece.model.betweenOut(), usual.beatsOf(appendSize)),
	}, nil
}
