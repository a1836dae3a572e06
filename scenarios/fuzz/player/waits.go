package player

import (
	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/program"
)

// waits limits the player's waits for the NIC, in cycles. On a board with slow links or memories, a limit starts again
// with each frame or request that crosses the boundary, since the remaining work may take any time there.
type waits struct {
	// limit of a wait: more than any time-out of the contract, and than a frame and its TLPs take in cables, links and
	// memories
	patience int64
	most     int64 // limit of a wait in which the NIC makes progress
	step     int   // cycles between two checks of a condition
	slow     bool
	// on a slow board: the last cycle in which a frame, a request of the NIC or its answer crossed the boundary
	moved   int64
	longest int64 // longest wait that ended
}

// waitsOf returns the waits for a board.
func waitsOf(b *testbed.Bed) waits {
	const (
		patience, step = 400_000, 16
		often          = 1000                               // waits.most / waits.patience on a slow board
		frames         = program.MaxPlayed/ether.MaxLen + 1 // so many frames of MaxLen together exceed any played one
	)
	period := b.NIC.Period()
	slowest := int64((b.Waits.Turn + frames*board.CableTime(b.Cable())) / period)
	w := waits{patience: max(patience, slowest), slow: slowest > 2*patience, step: step}
	w.most = w.patience
	if w.slow {
		w.most *= often
		w.step = int(w.patience / (patience / step))
	}
	return w
}

// crossing records the NIC's own frames, requests and read completions as progress (boundary.Observer).
func (w *waits) crossing(c boundary.Crossing) {
	switch c.Kind {
	case boundary.TLPIn:
		var h tlp.Header
		if core.DecodeInbound(&c.TLP.Hdr, &h) != core.InCompletion {
			return // a request of software is no progress of the NIC
		}
	case boundary.TLPOut:
		if h, err := c.TLP.Header(); err == nil && h.Kind.IsCompletion() {
			return // an answer to software is no progress of the NIC
		}
	}
	w.moved = max(w.moved, c.Last)
}

// expired reports whether a wait that began in cycle `from` has lasted too long.
func (w *waits) expired(from, now int64) bool {
	return now-max(from, w.moved) > w.patience || now-from > w.most
}

// lower lowers the limit of waits; 0 leaves it. On a slow board the limit follows from the board and stays.
func (w *waits) lower(patience int64) {
	if patience > 0 && !w.slow {
		w.patience, w.most = min(w.patience, patience), min(w.most, patience)
	}
}

// ended records a successful wait.
func (w *waits) ended(from, now int64) { w.longest = max(w.longest, now-from) }

func (x *player) cycle() int64 { return int64(x.b.Engine.Now() / x.b.NIC.Period()) }

// until advances time until a condition holds. Errors name the condition by the text in `what`.
func (x *player) until(what string, holds func() bool) error {
	from := x.cycle()
	for !holds() {
		if x.waits.expired(from, x.cycle()) {
			return x.stuck(what, from, x.cycle(), nil)
		}
		if err := x.run(x.waits.step); err != nil {
			return err
		}
	}
	x.waits.ended(from, x.cycle())
	return nil
}

// poll reads a register until the function enough accepts its value. what describes the awaited state, for errors.
func (x *player) poll(off uint32, what string, enough func(v uint32) bool) error {
	for from := x.cycle(); ; {
		v, err := x.read(off)
		if err != nil {
			return err
		}
		if enough(v) {
			x.waits.ended(from, x.cycle())
			return nil
		}
		if x.waits.expired(from, x.cycle()) {
			var status *uint32
			if off == nicspec.RegStatus {
				status = &v
			}
			return x.stuck(what, from, x.cycle(), status)
		}
	}
}

// CheckCard rejects a card with links or memories so slow that the NIC would time out every read.
func CheckCard(c *board.CardSpec) error {
	const longest = 10_000 // longest memory latency that a program.Board allows, in ns
	s := *c
	s.Endpoint = *onCard(c,
		endpoint(&program.Board{MPS: c.Endpoint.Limits.MPS, RCB: 64, Random: true, Delay: longest, Jitter: longest}))
	_, err := s.Waits()
	return err
}

// onCard limits the endpoint's completions to what the links of the card carry.
func onCard(c *board.CardSpec, e *board.Endpoint) *board.Endpoint {
	e.Limits.MPS = min(e.Limits.MPS, c.Endpoint.Limits.MPS)
	e.Ahead = c.Endpoint.Ahead
	return e
}

var _ boundary.Observer = (*waits)(nil).crossing
