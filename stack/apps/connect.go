package apps

import (
	"fmt"

	"nictwin/stack/verbs"
)

// Timeout codes of a queue pair: 4.096 us x 2^code.
const (
	DefaultTimeout = 8
	MaxTimeout     = 31
)

// RetransmitAfter returns the timeout code of the spec, or DefaultTimeout if it has none.
func (s *Spec) RetransmitAfter() int {
	if s.Timeout == nil {
		return DefaultTimeout
	}
	return *s.Timeout
}

// queuePairs creates the queue pairs of a server.
func (u *setup) queuePairs(s *side) error {
	spec := u.spec
	if spec.Kind == Ring {
		if err := spec.ringFits(s); err != nil {
			return err
		}
	}
	init := verbs.QPInitAttr{Type: qpTypes[spec.Transport], SendCQ: s.cq, RecvCQ: s.cq}
	init.Cap = verbs.QPCap{MaxSendWR: spec.sendRequests(), MaxSendSGE: spec.Pieces, MaxRecvSGE: spec.Pieces}
	if spec.Inline {
		init.Cap.MaxInline, _ = s.lengths()
	}
	if spec.LowLatency {
		init.LowLatency = max(spec.largest(), 1)
	}
	err := u.runVerbs(s, "create_qp", len(s.ends), func(i int, done func(error)) {
		a, e := init, s.ends[i]
		if e.ring != nil {
			a.Cap = spec.ringCap(e)
			s.Context.CreateQP(s.pd, a, storeIn(&e.qp, done))
			return
		}
		if s.shared != nil && u.recvDepth(e) > 0 {
			a.SRQ = s.srq
		} else {
			a.Cap.MaxRecvWR = max(u.recvDepth(e), 1)
			if spec.Served() && !e.client {
				a.Cap.MaxRecvWR = spec.Depth // for the offload engine, which will post to the queue pair
			}
		}
		s.Context.CreateQP(s.pd, a, storeIn(&e.qp, done))
	})
	if err != nil {
		return err
	}
	for _, e := range s.ends {
		s.byQPN[e.qp.Num()] = e
	}
	return nil
}

// attributes returns the attributes that take an end's queue pair to RTS.
func (u *setup) attributes(e *end) verbs.QPAttr {
	spec, rd := u.spec, min(u.spec.sendRequests(), e.side.dev.MaxQPInitRdAtom)
	a := verbs.QPAttr{
		Port: e.route.Port, AH: e.route.Peer, PathMTU: verbs.MTU(spec.MTU), DestQPN: e.peerQPN, QKey: qkey,
		Access:  e.side.mr.Access &^ verbs.AccessLocalWrite,
		Timeout: uint8(spec.RetransmitAfter()), RetryCnt: uint8(spec.Retries), RNRRetry: uint8(spec.RNRRetry),
		MinRNRTimer: uint8(spec.RNRTimer),
		MaxRdAtomic: uint8(rd), MaxDestRdAtomic: uint8(min(max(rd, 1), e.side.dev.MaxQPRdAtom)),
		SQPSN: spec.firstPSN(e.flow, e.client), RQPSN: spec.firstPSN(e.flow, !e.client),
	}
	if spec.Transport == UC {
		a.Access &= verbs.AccessRemoteWrite
	}
	return a
}

// firstPSN returns a sender's first PSN. Senders differ, and some wrap.
func (s *Spec) firstPSN(flow int, client bool) uint32 {
	const bits = maxPSN
	if s.PSN != nil {
		return uint32(*s.PSN)
	}
	n := mix(s.Seed + uint64(flow)*2)
	if client {
		n = mix(n)
	}
	if n&3 == 0 {
		return bits - uint32(n>>2&7)
	}
	return uint32(n>>8) & bits
}

// connect moves the queue pairs of a server from one state to the next.
func (u *setup) connect(s *side, from, to verbs.State) error {
	name := fmt.Sprintf("modify_qp to %v", to)
	return u.runVerbs(s, name, len(s.ends), func(i int, done func(error)) {
		e := s.ends[i]
		a := u.attributes(e)
		required, _, _ := verbs.Transition(qpTypes[u.spec.Transport], from, to)
		a.State = to
		s.Context.ModifyQP(e.qp, a, required|verbs.QPState, done)
	})
}

// handles creates the address handles of a server's UD queue pairs.
func (u *setup) handles(s *side) error {
	if u.spec.Transport != UD {
		return nil
	}
	s.handles = make([]verbs.AH, u.spec.Ports)
	err := u.runVerbs(s, "create_ah", u.spec.Ports,
		func(i int, done func(error)) {
			s.Context.CreateAH(s.pd, s.Routes[i].Peer, storeIn(&s.handles[i], done))
		})
	for _, e := range s.ends {
		e.ah = s.handles[e.port]
	}
	return err
}

// exchangeAddresses tells both ends of each flow the other's queue pair number, address and keys.
func (u *setup) exchangeAddresses() {
	for _, s := range u.sides {
		for i, e := range s.ends {
			p := s.peer.ends[i]
			e.peerQPN = p.qp.Num()
			c, ok := clientOf(e)
			if r, both := p.role.(*server); ok && both {
				c.revocable = r.keys
				c.remote, c.farKey, c.remoteEnd = r.exposed, p.side.mr.RKey, p.side.Base+p.side.Bytes
			}
		}
	}
}

// states moves all queue pairs to RTS. Both servers reach RTR before either reaches RTS, so that nothing is sent to a
// queue pair that drops it.
func (u *setup) states(each func(...func(*side) error) error) error {
	from := verbs.QPSReset
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		if err := each(func(s *side) error { return u.connect(s, from, to) }); err != nil {
			return err
		}
		from = to
	}
	return nil
}
