package transport

import "nictwin/models/format/wire"

// held is a received packet in its buffer.
type held struct {
	payload []byte
	done    bool
	request bool
	answers bool // the packet is a part of the answer to a READ
}

// shareAt returns how many packets a side can hold at a time; 0: no limit.
func (s *schedule) shareAt(side uint8, now Ps) int {
	if s.shares[side] == 0 || s.resize == 0 {
		return s.shares[side]
	}
	sizes := [...]int{s.shares[side], 1, 2, 7, 40}
	return sizes[s.hash(uint64(side), 52, uint64(now/s.resize))%uint64(len(sizes))]
}

// mostShare returns how many packets a side can hold at most.
func (s *schedule) mostShare(side uint8) int {
	if s.shares[side] > 0 && s.resize > 0 {
		return max(s.shares[side], 40)
	}
	return s.shares[side]
}

// checkFlight counts a request that is sent, and checks that the peer can hold it, and this side its answers.
func (e *end) checkFlight(b []byte) {
	var p Packet
	if err := p.Parse(b, len(b)+wire.ICRCSize); err != nil {
		e.failf("side %d: its own packet: %v", e.side, err)
	}
	if !p.IsRequest() {
		return
	}
	e.flying++
	if p.BTH.Opcode == wire.RCReadRequest {
		e.wanted += int(packets(p.RETH.DMALen, e.mtu))
	}
	if !e.bounded() || len(e.faults) > 0 || e.conn.Stats().Resent > 0 {
		return
	}
	// before it knows the peer's window, a requester sends some packets
	if most := max(e.mostShare(1-e.side), min(firstWindow, e.mostShare(e.side))); e.flying > most {
		e.failf("side %d: %d requests in flight, and the peer can hold %d", e.side, e.flying, most)
	}
	if most := e.mostShare(e.side); p.BTH.Opcode == wire.RCReadRequest && e.wanted > most {
		e.failf("side %d: %d answers requested or held, and it can hold %d", e.side, e.wanted, most)
	}
}

// bounded reports whether both ends are RC and limit the packets in flight to the buffers of each side
// (schedule.shares).
func (e *end) bounded() bool {
	for _, x := range e.ends {
		if _, ours := x.conn.(*rc); !ours {
			return false
		}
	}
	return e.shares[0] > 0 && e.shares[1] > 0
}

// judgeTimeouts checks that no timeout ran out if nothing was lost.
func (r *rig) judgeTimeouts(e *end) {
	if n := e.conn.Stats().Timeouts; n > 0 && r.lossless() && !r.mayFail() && r.refuse == refuseNone {
		r.failf("side %d: %d timeouts, and nothing was lost", e.side, n)
	}
}

// hold counts the buffer of a packet that arrives.
func (e *end) hold(p *Packet) held {
	x := held{request: p.IsRequest(), answers: p.BTH.Opcode.Info().Operation == wire.OpReadResponse}
	if x.request {
		e.holding++
	} else {
		e.landing++
	}
	return x
}

// free returns a packet's buffer.
func (e *end) free(p *held) {
	if p.request {
		e.holding--
		e.ends[1-e.side].flying--
		return
	}
	e.landing--
	if p.answers {
		e.wanted--
	}
}

func (e *end) Buffers() (share, requests, answers int) {
	share = e.shareAt(e.side, e.now)
	return share, share - e.holding, share - e.landing
}

func (e *end) Drop(h Handle) {
	p := e.dispose(h)
	p.payload = nil
	e.free(p)
}
