package provider

import (
	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/verbs"
)

// Accounts gives RC queue pairs credits for the packets that they receive (stack/ceio/bypass).
type Accounts interface {
	Open(qpn uint32, done func(error)) // the queue pair is connected, and may receive
	Processed(qpn uint32, upTo Drawn)  // an application took a message from a completion queue
	Close(qpn uint32)                  // the queue pair was destroyed
}

// Drawn counts the credits that an account had given up to a message, and the slow packets (rnicspec.CQE).
type Drawn struct{ Credits, Slow uint32 }

// SetAccounts sets the accounts of RC queue pairs that connect from now on; nil: they get none.
func (c *Context) SetAccounts(a Accounts) { c.accounts = a }

// openAccount gives a queue pair that reached RTR an account if the device gives accounts.
func (q *QP) openAccount(done func(error)) {
	if q.c.accounts == nil || q.init.Type != verbs.QPTRC {
		done(nil)
		return
	}
	q.accounted = true
	q.c.accounts.Open(q.Num(), done)
}

// arrived keeps what the account had drawn up to a received message, until the application takes the message.
func (q *QP) arrived(e *rnicspec.CQE) {
	if q.accounted && e.Status == rnicspec.OK && (e.Opcode == rnicspec.Recv || e.Opcode == rnicspec.RecvWrite) {
		q.drawn.Push(Drawn{e.Drawn, e.Slow})
	}
}

// taken reports received messages that the application has taken.
func (q *CQ) taken(wcs []verbs.WC) {
	if q.c.accounts == nil {
		return
	}
	for i := range wcs {
		w := &wcs[i]
		if qp := q.qps[w.QPN]; qp != nil && w.Status == verbs.WCSuccess && qp.drawn.Len() > 0 &&
			(w.Opcode == verbs.WCRecv || w.Opcode == verbs.WCRecvWriteWithImm) {
			q.c.accounts.Processed(w.QPN, qp.drawn.Pop())
		}
	}
}
