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

// half is one of the two servers with its ends of the cables, in the process that simulates it.
type half struct {
	*server
	engine  *simcore.Engine
	pools   board.Pools
	conn    *conn
	farEnds []*etherlink.Far
	phases  phases

	out        []byte // message of the current quantum; its head and state are filled in last
	records    int
	framesLeft int // frames in this message

	quantaSent, quantaRead uint64 // quanta sent to the peer, and received from it
	roundEnd               state  // this server's state at the end of the current round

	// wall time of the traffic: total, waiting for the peer, waiting for a processor
	wall, waited, missing time.Duration
	quanta                uint64
}

const outHead = headBytes + stateBytes

// newHalf builds server i.
func newHalf(o *Options, i int, c *conn) (*half, error) {
	h := &half{engine: simcore.NewEngine(), conn: c, phases: phases{round: o.round(), patience: o.patience()}}
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
		h.farEnds = append(h.farEnds, far)
	}
	h.begin()
	if h.server, err = newServer(o, i, v); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return h, nil
}

// begin starts the message of the next quantum.
func (h *half) begin() {
	if cap(h.out) < outHead {
		h.out = make([]byte, outHead, room)
	}
	h.out, h.records, h.framesLeft = h.out[:outHead], 0, 0
}

// Frame adds a frame that leaves this half of the pair to the message of the quantum (etherlink.Outbox).
func (h *half) Frame(cable int, f *msg.Frame, depart simcore.Ps) error {
	h.framesLeft++
	return h.put(record{kind: recordFrame, cable: cable, at: depart, seq: f.Seq, frame: f.Frame})
}

// Credit adds a returned credit to the message of the quantum (etherlink.Outbox).
func (h *half) Credit(cable int, usable simcore.Ps) error {
	return h.put(record{kind: recordCredit, cable: cable, at: usable})
}

func (h *half) put(r record) error {
	h.out = appendRecord(h.out, &r)
	h.records++
	return nil
}

// take delivers a frame or a credit of the peer to its cable.
func (h *half) take(r record) error {
	far := h.farEnds[r.cable]
	if r.kind == recordCredit {
		return far.Credit(r.at)
	}
	return far.Deliver(&r.frame, r.seq, r.at)
}

// run simulates until traffic is over.
func (h *half) run(ctx context.Context) error {
	begin, delay := time.Now(), ThreadDelay()
	for h.phases.phase < phaseOver {
		before := h.phases.phase
		if err := h.quantum(ctx); err != nil {
			return err
		}
		h.phases.tell(h.opts.Beat, h.opts, h.server)
		if h.phases.phase == before {
			continue
		}
		if h.phases.phase >= phaseCounters && h.quanta == 0 {
			h.quanta, h.wall, h.waited, h.missing = h.quantaSent, time.Since(begin), h.conn.waiting, ThreadDelay()-delay
		}
		h.enter(h.phases.phase)
	}
	h.over = true
	if h.phases.phase == phaseStuck {
		return nil
	}
	if err := h.engine.Run(); err != nil {
		return err
	}
	if h.framesLeft > 0 {
		return fmt.Errorf("server %s: %d frames leave after all have come", h.name, h.framesLeft)
	}
	return nil
}

func (h *half) wrong(ctx context.Context) error {
	if err := h.err(); err != nil {
		return err
	}
	for _, f := range h.farEnds {
		if f.Err() != nil {
			return f.Err()
		}
	}
	return ctx.Err()
}

// quantum simulates the next quantum and sends the peer what left in it. Before that, it reads the quantum of one round
// earlier from the peer: what left then may arrive in this quantum. At the end of a round in which a phase may begin,
// it reads all of the peer's quanta so far. What is read at which point depends only on the simulation, so that
// simultaneous events have the same order in every run.
func (h *half) quantum(ctx context.Context) error {
	if h.quantaSent >= ahead {
		if err := h.receive(h.quantaSent + 1 - ahead); err != nil {
			return err
		}
	}
	if err := h.engine.RunUntil(h.phases.quantumEnd(h.quantaSent)); err != nil {
		return err
	}
	if err := h.wrong(ctx); err != nil {
		return err
	}
	mine := h.state()
	if err := h.sendQuantum(mine); err != nil {
		return err
	}
	if h.quantaSent%ahead > 0 {
		return nil
	}
	if h.roundEnd = mine; h.phases.settled(mine) {
		return nil
	}
	return h.receive(h.quantaSent)
}

// sendQuantum sends the peer what left in this quantum.
func (h *half) sendQuantum(mine state) error {
	appendState(h.out[:headBytes], h.quantaSent, mine, h.records)
	if err := putHead(h.out, 0, kindQuantum); err != nil {
		return err
	}
	if err := h.conn.send(h.out); err != nil {
		return h.lost(err)
	}
	h.quantaSent++
	h.begin()
	return nil
}

// receive reads the peer's messages until it has those of the first n quanta.
func (h *half) receive(n uint64) error {
	for h.quantaRead < n {
		b, err := h.conn.expect(kindQuantum)
		if err != nil {
			return h.lost(err)
		}
		at, theirs, err := parseQuantum(b, len(h.farEnds), h.take)
		if err == nil && at != h.quantaRead {
			err = broken("QUANTUM %d: want %d", at, h.quantaRead)
		}
		if err != nil {
			return h.lost(err)
		}
		if h.quantaRead++; h.quantaRead%ahead == 0 {
			h.phases.step(h.roundEnd, theirs)
		}
	}
	return nil
}

// lost adds the peer and the quantum to an error.
func (h *half) lost(err error) error {
	if _, ok := err.(*PeerError); ok {
		return err
	}
	return &LostError{Peer: h.conn.peer, Quantum: h.quantaRead, Err: err}
}

// end finishes the referee and returns its report.
func (h *half) end() (*Report, error) { return h.report(h.phases.ending()) }

func (h *half) close() error { return h.cards.Close() }

var _ etherlink.Outbox = (*half)(nil)
