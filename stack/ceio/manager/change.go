package manager

import "nictwin/models/sim/fifo"

// change is a change under way: some flows become active or inactive. While credits are being taken from accounts,
// nothing else changes the balances of the ledger but draws.
type change struct {
	requests fifo.Queue[request]
	open     bool
	on       bool
	flows    []int // flows that become active or inactive
	take     []int // by flow: credits that are being taken from its account
	reads    int   // answers of NIC.ReadAccount that are awaited
}

// request asks for a flow to become active or inactive.
type request struct {
	flow int
	on   bool
}

func (m *Manager) request(f *flow, on bool) {
	if !m.spec.Reallocate || f.shared || m.ledger.Active(f.id) == on && m.change.requests.Len() == 0 && !m.change.open {
		return
	}
	m.change.requests.Push(request{f.id, on})
	m.begin()
}

// begin starts the next change, unless one is under way. Consecutive requests to become active make one change.
func (m *Manager) begin() {
	c := &m.change
	for !c.open && c.requests.Len() > 0 && m.err == nil {
		c.flows, c.on = c.flows[:0], c.requests.Front().on
		for c.requests.Len() > 0 && c.requests.Front().on == c.on && (c.on || len(c.flows) == 0) {
			r := c.requests.Pop()
			if m.ledger.Active(r.flow) != r.on && !m.chosen(r.flow) {
				c.flows = append(c.flows, r.flow)
			}
		}
		if len(c.flows) == 0 || !c.on && m.ledger.Flows() == 1 && m.flows[c.flows[0]].open {
			continue // nothing changes; the last active flow keeps its credits while it is open
		}
		if !c.on {
			m.release(&m.flows[c.flows[0]])
		}
		c.open = true
		m.takeSurplus()
	}
}

func (m *Manager) chosen(id int) bool {
	for _, f := range m.change.flows {
		if f == id {
			return true
		}
	}
	return false
}

// takeSurplus takes from the accounts what the ledger will take from the flows.
func (m *Manager) takeSurplus() {
	c := &m.change
	m.ledger.Surplus(c.take, c.on, c.flows...)
	for i, n := range c.take {
		f := &m.flows[i]
		n -= m.ledger.Balance(i) - f.inNIC
		if n = min(max(n, 0), maxCredits); n == 0 || f.inNIC == 0 || m.spec.Controller != ControlNIC {
			c.take[i] = 0
			continue
		}
		c.take[i] = n
		c.reads++
		m.nic.TakeCredit(i, n)
		m.nic.ReadAccount(i)
	}
	m.divide()
}

// AccountRead takes an answer of NIC.ReadAccount: the draws that the ledger has not seen are entered, so that its
// balance is the sum of the credits in the account and those taken from it (NIC.TakeCredit).
func (m *Manager) AccountRead(id int, a Account) {
	c, f := &m.change, &m.flows[id]
	n := max(int(int32(a.Drawn-f.drawn))-f.early, 0)
	if m.lenient() {
		n = min(n, max(m.ledger.Balance(id), 0))
	}
	if n > 0 && !m.ledger.Take(id, n) {
		m.fail(id, ": its account has drawn %d credits more than it had [A3]", n-m.ledger.Balance(id))
		return
	}
	f.early += n
	f.inNIC = max(f.inNIC-n-c.take[id], 0)
	switch {
	case !f.resumed || a.Drawn != f.before: // fast packets tell the effect of the resume
	case a.Slow: // the frame behind the resume found no credit
		m.exhausted(f)
		f.returned = false
	default:
		f.certain, f.from = true, a.Seq
	}
	c.reads--
	m.divide()
	m.begin()
}

// divide lets the ledger divide the credits once all accounts have been read, and adds the new shares to the accounts.
func (m *Manager) divide() {
	c := &m.change
	if c.reads > 0 || m.err != nil {
		return
	}
	if c.on {
		m.ledger.Activate(c.flows...)
		m.stats.Activated += uint64(len(c.flows))
	} else {
		m.ledger.Deactivate(c.flows[0])
		m.stats.Deactivated++
		m.flows[c.flows[0]].quietAt = m.flows[c.flows[0]].arrivals
	}
	c.open = false
	for i := range m.spec.Flows {
		m.releaseBatch(&m.flows[i])
	}
	m.settleAll()
}

// settleAll passes on credits to all accounts.
func (m *Manager) settleAll() {
	for i := range m.spec.Flows {
		m.settle(&m.flows[i])
	}
}

// settle adds to the account of a flow the credits that the ledger has given the flow, or resumes the fast path with
// them. The account never has more than the fast ring has descriptors; further credits wait until packets have been
// processed.
func (m *Manager) settle(f *flow) {
	if m.change.open || m.err != nil || f.shared {
		return
	}
	if m.spec.Controller == ControlArm {
		m.resume(f, 0)
		return
	}
	n := m.ledger.Balance(f.id) - f.inNIC
	switch {
	case n < 0 && m.lenient(): // Algorithm 1 as printed takes more than is paid
		return
	case n < 0:
		m.fail(f.id, ": the account holds %d credits, the ledger %d", f.inNIC, f.inNIC+n)
		return
	}
	add := min(n, max(m.spec.FastSlots-m.ledger.InUse(f.id)-f.excess-f.inNIC, 0))
	m.stats.Withheld = max(m.stats.Withheld, uint64(n-add))
	switch n = add; {
	case f.paused:
		m.resume(f, n)
	case n > 0:
		f.inNIC += n
		m.nic.AddCredit(f.id, n)
	}
}

// resume directs a flow to its fast ring again if its slow packets have been copied and it has credits.
func (m *Manager) resume(f *flow, credits int) {
	if !f.paused || !f.open || !f.ring.Drained() || f.slow.Len() > 0 {
		return
	}
	if !m.hasCredit(f, credits) {
		f.state = Slow
		return
	}
	f.paused, f.resumed, f.certain, f.state, f.before = false, true, false, Resuming, f.drawn
	f.merger.Resumed()
	f.order.resumed()
	m.stats.Resumes++
	if m.spec.Controller == ControlArm {
		m.nic.Steer(f.id, true)
		return
	}
	f.inNIC += credits
	m.nic.Resume(f.id, credits)
}

// Processed reports that the application has processed packets that were handed over, and ended messages with them.
// Host buffers of slow packets are free at once; credits of fast packets return after a batch of messages.
func (m *Manager) Processed(now Ps, id, fast, slow, messages int) {
	f := &m.flows[id]
	f.ring.Processed(fast)
	if slow < 0 || slow > f.landed {
		m.fail(id, ": %d slow packets processed of %d that were copied", slow, f.landed)
		return
	}
	f.landed -= slow
	f.marks.backlog -= slow
	f.processed += fast
	f.messages += messages
	switch {
	case m.releaseBatch(f):
		m.settleAll() // its creditors may have got some
	case f.paused:
		m.settle(f)
	}
	if f.runs.Len() == 0 { // or each landing buffer that is freed would make a copy of one packet
		m.drain(now, f)
	}
}

// releaseBatch returns the credits of a batch of messages, and reports whether it did.
func (m *Manager) releaseBatch(f *flow) bool { return f.messages >= m.batch() && m.release(f) }

// batch returns after how many messages their credits are returned: fewer than the credits of a flow (share).
func (m *Manager) batch() int { return max(1, min(m.spec.Batch, m.share()-1)) }

// share returns the credits of an active flow, 1 or more.
func (m *Manager) share() int { return max(1, m.spec.Credits/max(1, m.ledger.Flows())) }

// longest returns the most packets of a copy: a flow's share. Without any credits there is no share; then landing
// buffers are the only bound.
func (m *Manager) longest() int {
	if m.spec.Credits == 0 {
		return m.spec.Landing
	}
	return m.share()
}

// release returns the credits of all processed packets, unless a change of the active flows is under way, which
// releases a batch when it ends. It reports whether there were any.
func (m *Manager) release(f *flow) bool {
	if m.change.open || f.processed == 0 {
		return false
	}
	n := f.processed
	f.processed, f.messages, f.returned = 0, 0, true
	without := min(n, f.excess)
	f.excess -= without
	m.ledger.Release(f.id, n-without)
	return true
}
