package pair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// half is one server with its halves of the cables, in the process that simulates it.
type half struct {
	*server
	engine *simcore.Engine
	pools  board.Pools
	conn   *conn
	fars   []*etherlink.Far
	course course

	out     []byte // the message of this quantum; its head and state are filled in last
	records int
	left    int // frames among them

	told, heard uint64 // quanta
	ends        state  // at the end of the round that is decided on next

	wall, waited, missing time.Duration // of the traffic
	quanta                uint64
}

const outHead = headBytes + stateBytes

// newHalf builds server i.
func newHalf(o *Options, i int, c *conn) (*half, error) {
	h := &half{engine: simcore.NewEngine(), conn: c, course: course{round: o.round(), patience: o.patience()}}
	rack := o.rack()
	v, err := board.NewServer(h.engine, &h.pools, rack.Servers[i], factory())
	if err != nil {
		return nil, err
	}
	for port := range max(rack.Servers[i].Cards[0].Ports, 1) {
		spec := etherlink.FarSpec{Cable: port, Link: rack.PairCable(), Second: i == 1}
		far, err := etherlink.ConnectFar(fmt.Sprintf("%s.Far%d", rack.Name, port), h.engine, &h.pools.Frames, spec,
			v.Cards[0].NIC.Eth(port), h)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("server %s: %w", v.Name, err), v.Close())
		}
		h.fars = append(h.fars, far)
	}
	h.begin()
	if h.server, err = newServer(o, i, v); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return h, nil
}

// begin begins the message of the next quantum.
func (h *half) begin() {
	if cap(h.out) < outHead {
		h.out = make([]byte, outHead, room)
	}
	h.out, h.records, h.left = h.out[:outHead], 0, 0
}

// Frame implements etherlink.Outbox.
func (h *half) Frame(cable int, f *msg.Frame, depart simcore.Ps) error {
	h.left++
	return h.put(record{kind: recordFrame, cable: cable, at: depart, seq: f.Seq, frame: f.Frame})
}

// Credit implements etherlink.Outbox.
func (h *half) Credit(cable int, usable simcore.Ps) error {
	return h.put(record{kind: recordCredit, cable: cable, at: usable})
}

func (h *half) put(r record) error {
	h.out = appendRecord(h.out, &r)
	h.records++
	return nil
}

// take brings in what the peer tells.
func (h *half) take(r record) error {
	far := h.fars[r.cable]
	if r.kind == recordCredit {
		return far.Credit(r.at)
	}
	return far.Deliver(&r.frame, r.seq, r.at)
}

// run simulates until traffic is over.
func (h *half) run(ctx context.Context) error {
	begin, delay := time.Now(), ThreadDelay()
	for h.course.phase < phaseOver {
		before := h.course.phase
		if err := h.quantum(ctx); err != nil {
			return err
		}
		if h.course.phase == before {
			continue
		}
		if h.course.phase >= phaseCounters && h.quanta == 0 {
			h.quanta, h.wall, h.waited, h.missing = h.told, time.Since(begin), h.conn.waiting, ThreadDelay()-delay
		}
		h.enter(h.course.phase)
	}
	h.over = true
	if h.course.phase == phaseStuck {
		return nil
	}
	if err := h.engine.Run(); err != nil {
		return err
	}
	if h.left > 0 {
		return fmt.Errorf("server %s: %d frames leave after all have come", h.name, h.left)
	}
	return nil
}

func (h *half) wrong(ctx context.Context) error {
	if err := h.err(); err != nil {
		return err
	}
	for _, f := range h.fars {
		if f.Err() != nil {
			return f.Err()
		}
	}
	return ctx.Err()
}

// quantum simulates the next quantum, and tells the peer what left in it. It hears first what may arrive there: what
// left the peer a round before. At the end of a round it hears everything if a phase may begin there. How much is
// heard when depends on nothing but what is simulated, so that events of one instant have the same order in every run.
func (h *half) quantum(ctx context.Context) error {
	if h.told >= ahead {
		if err := h.hear(h.told + 1 - ahead); err != nil {
			return err
		}
	}
	if err := h.engine.RunUntil(h.course.quantumEnd(h.told)); err != nil {
		return err
	}
	if err := h.wrong(ctx); err != nil {
		return err
	}
	mine := h.state()
	if err := h.tell(mine); err != nil {
		return err
	}
	if h.told%ahead > 0 {
		return nil
	}
	if h.ends = mine; h.course.settled(mine) {
		return nil
	}
	return h.hear(h.told)
}

// tell tells the peer what left in this quantum.
func (h *half) tell(mine state) error {
	appendState(h.out[:headBytes], h.told, mine, h.records)
	if err := putHead(h.out, 0, kindQuantum); err != nil {
		return err
	}
	if err := h.conn.send(h.out); err != nil {
		return h.lost(err)
	}
	h.told++
	h.begin()
	return nil
}

// hear takes what left the peer in its first n quanta.
func (h *half) hear(n uint64) error {
	for h.heard < n {
		b, err := h.conn.expect(kindQuantum)
		if err != nil {
			return h.lost(err)
		}
		at, theirs, err := parseQuantum(b, len(h.fars), h.take)
		if err == nil && at != h.heard {
			err = broken("QUANTUM %d: want %d", at, h.heard)
		}
		if err != nil {
			return h.lost(err)
		}
		if h.heard++; h.heard%ahead == 0 {
			h.course.step(h.ends, theirs)
		}
	}
	return nil
}

// lost says of which peer, and when.
func (h *half) lost(err error) error {
	if _, ok := err.(*PeerError); ok {
		return err
	}
	return &LostError{Peer: h.conn.peer, Quantum: h.heard, Err: err}
}

// end hears the referee.
func (h *half) end() (*Report, error) { return h.report(h.course.ending()) }

func (h *half) close() error { return h.cards.Close() }

var _ etherlink.Outbox = (*half)(nil)
