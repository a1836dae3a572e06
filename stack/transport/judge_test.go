package transport

import (
	"bytes"
	"fmt"

	"nictwin/stack/verbs"
)

// onCompletion checks the memory and order that a completion promises, at the time at which it arrives.
func (r *rig) onCompletion(e *end, mine, peer *plan, c *Completion) {
	if c.Status != verbs.WCSuccess {
		return
	}
	if !c.Recv {
		m := mine.messages[c.ID]
		if m.Op == verbs.WRRead || m.Op.IsAtomic() {
			r.compare(e, fmt.Sprintf("result of request %d", c.ID), m)
			if c.ByteLen != m.length {
				r.failf("side %d: request %d: byte_len %d, want %d", e.side, c.ID, c.ByteLen, m.length)
			}
			return
		}
		for _, x := range m.Spans { // overwrite the spans, as an application that reuses its buffer may
			for i, b := 0, e.at(x.Addr, x.Len); i < len(b); i++ {
				b[i] = 0xee
			}
		}
		return
	}
	if c.ID >= uint64(len(peer.recvs)) {
		r.failf("side %d: receive %d was not posted", e.side, c.ID)
		return
	}
	r.checkRecv(e, peer, peer.recvs[c.ID], c)
}

// checkRecv checks a successful receive completion, and the bytes received.
func (r *rig) checkRecv(e *end, peer *plan, m *message, c *Completion) {
	want := Completion{ID: c.ID, Opcode: verbs.WCRecv, Recv: true, ByteLen: m.length}
	if m.Op == verbs.WRWriteImm {
		want.Opcode = verbs.WCRecvWriteWithImm
	}
	if m.Op.HasImm() {
		want.HasImm, want.Imm = true, m.Imm
	}
	if m.Op == verbs.WRSendInv {
		want.HasInv, want.InvKey = true, m.Imm
		if !e.dead[m.Imm] {
			r.failf("side %d: key %d is not invalidated", e.side, m.Imm)
		}
	}
	if *c != want || m.refused {
		r.failf("side %d: receive completion %+v, want %+v", e.side, *c, want)
	}
	if m.Op.IsSend() {
		r.compareAt(e, fmt.Sprintf("receive %d", c.ID), e.recvOf(peer, c.ID), m.data)
	}
	for _, w := range peer.messages {
		if w == m && w.Op.IsSend() {
			break
		}
		if w.Op.IsWrite() && !w.overwritten {
			r.compareAt(e, fmt.Sprintf("WRITE %d before receive %d", w.ID, c.ID),
				[]Span{{Addr: w.RemoteAddr, Len: w.length}}, w.data)
		}
		if w == m {
			break
		}
	}
}

// recvOf returns the spans of a posted receive request.
func (e *end) recvOf(peer *plan, id uint64) []Span {
	top := uint32(recvAt)
	for i, m := range peer.recvs {
		if uint64(i) == id {
			return []Span{{Addr: base64k + uint64(top), Len: m.recvCap}}
		}
		top += m.recvCap
	}
	return nil
}

func (r *rig) compare(e *end, what string, m *message) { r.compareAt(e, what, m.Spans, m.data) }

func (r *rig) compareAt(e *end, what string, spans []Span, want []byte) {
	var got []byte
	for _, x := range spans {
		got = append(got, e.at(x.Addr, x.Len)...)
	}
	if len(got) < len(want) || !bytes.Equal(got[:len(want)], want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		r.failf("side %d: %s differs from byte %d of %d on", e.side, what, i, len(want))
	}
}

// judge checks, when the run is over, that everything has ended as it should.
func (r *rig) judge(e *end, mine, peer *plan) {
	first := r.judgeSends(e, mine)
	ok := r.judgeRecvs(e, peer)
	if first >= 0 && !r.mayFail() && r.refuse == refuseNone {
		r.failf("side %d: request %d failed: %v", e.side, first, e.statusOf(first))
	}
	other := r.ends[1-e.side]
	if acked := r.ackedRecvs(other, peer); ok < acked {
		r.failf("side %d: %d receives, but the peer's completions say %d", e.side, ok, acked)
	}
	if !r.mayFail() && r.refuse == refuseNone {
		if ok != len(peer.recvs) {
			r.failf("side %d: %d of %d receives", e.side, ok, len(peer.recvs))
		}
		if !bytes.Equal(e.mem[remoteAt:], peer.remote) {
			r.failf("side %d: memory differs at the end", e.side)
		}
		if s := e.conn.State(); s != verbs.QPSRTS {
			r.failf("side %d: ends in state %v", e.side, s)
		}
	}
	if r.refuse != refuseNone && !r.mayFail() && e.side == 1 && (e.conn.State() != verbs.QPSErr || len(e.asyncs) != 1) {
		r.failf("side 1: refused, but is %v with events %v", e.conn.State(), e.asyncs)
	}
	r.judgeBuffers(e)
	r.judgeTimeouts(e)
}

func (r *rig) judgeBuffers(e *end) {
	left, kept := 0, 0
	for i := range e.packets {
		if !e.packets[i].done {
			left++
		}
	}
	if c, ours := e.conn.(*rc); ours && c.early != nil && c.state != verbs.QPSErr {
		kept = c.early.count
	}
	if left != kept {
		r.failf("side %d: %d buffers were never given back, %d are kept", e.side, left, kept)
	}
}

func (e *end) statusOf(id int) verbs.Status {
	for _, c := range e.sends {
		if c.ID == uint64(id) {
			return c.Status
		}
	}
	return verbs.WCSuccess
}

// judgeSends checks the send completions of a side. It returns the number of the first request that failed, or -1.
func (r *rig) judgeSends(e *end, p *plan) int {
	first, k := -1, 0
	for i, m := range p.messages {
		var c *Completion
		if k < len(e.sends) && e.sends[k].ID == m.ID {
			c = &e.sends[k]
			k++
		}
		switch {
		case c == nil && (m.Flags&verbs.SendSignaled != 0 || first >= 0):
			r.failf("side %d: request %d of %d never ended (state %v)", e.side, i, len(p.messages), e.conn.State())
			return first
		case c == nil:
		case c.Status == verbs.WCSuccess && (first >= 0 || m.Flags&verbs.SendSignaled == 0 || m.refused ||
			c.Opcode != m.Op.Completion()):
			r.failf("side %d: request %d: unexpected %+v", e.side, i, *c)
		case c.Status == verbs.WCSuccess:
		case first < 0:
			first = i
			r.judgeFailure(e, i, m, c)
		case c.Status != verbs.WCFlushErr:
			r.failf("side %d: request %d after a failure: %v", e.side, i, c.Status)
		}
	}
	if k != len(e.sends) {
		r.failf("side %d: completion %d is not one of a request: %+v", e.side, k, e.sends[k])
	}
	if first < 0 && r.refuse != refuseNone && e.side == 0 {
		r.failf("the request that was to be refused was not")
	}
	return first
}

// judgeFailure checks the status of the first request that failed.
func (r *rig) judgeFailure(e *end, i int, m *message, c *Completion) {
	allowed := map[verbs.Status]bool{}
	if r.refuse != refuseNone {
		switch {
		case e.side == 1: // side 1 refused a request of side 0, so the requests of side 1 are flushed
			allowed[verbs.WCFlushErr] = true
		case m.refused:
			allowed[r.refuse.status()] = true
		}
		if !r.lossless() && i <= r.refuseAt && e.side == 0 { // the NAK, or the answer to an earlier request, was lost
			allowed[verbs.WCRetryExcErr] = true
		}
	}
	if r.kill != 0 {
		allowed[map[uint8]verbs.Status{0: verbs.WCRetryExcErr, 1: verbs.WCFlushErr}[e.side]] = true
	}
	if r.blackhole != 0 || r.retries < 7 {
		allowed[verbs.WCRetryExcErr] = true
	}
	if r.rnrs < 7 {
		allowed[verbs.WCRNRRetryExcErr] = true
	}
	if !allowed[c.Status] {
		r.failf("side %d: request %d failed: %v", e.side, i, c.Status)
	}
}

// judgeRecvs checks the receive completions and returns how many succeeded.
func (r *rig) judgeRecvs(e *end, peer *plan) int {
	ok := 0
	for i, c := range e.recvs {
		switch {
		case c.ID != uint64(i):
			r.failf("side %d: receive completion %d is of request %d", e.side, i, c.ID)
		case c.Status == verbs.WCSuccess && ok == i:
			ok++
		case c.Status == verbs.WCSuccess:
			r.failf("side %d: receive %d after a failure", e.side, i)
		case c.Status != verbs.WCFlushErr && i != ok:
			r.failf("side %d: receive %d: %v", e.side, i, c.Status)
		}
	}
	if e.conn.State() == verbs.QPSErr && len(e.recvs) != len(peer.recvs) {
		r.failf("side %d: %d of %d receives ended", e.side, len(e.recvs), len(peer.recvs))
	}
	return ok
}

// ackedRecvs counts the requests that use up a receive request and are known to have arrived, because they or later
// ones succeeded.
func (r *rig) ackedRecvs(e *end, p *plan) int {
	last := -1
	for _, c := range e.sends {
		if c.Status == verbs.WCSuccess {
			last = int(c.ID)
		}
	}
	n := 0
	for i, m := range p.messages {
		if i <= last && m.takesRecv() {
			n++
		}
	}
	return n
}
