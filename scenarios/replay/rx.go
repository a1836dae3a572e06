package replay

import (
	"bytes"

	"nictwin/models/nicspec"
	"nictwin/scenarios/board"
	"nictwin/scenarios/driver"
)

// receive is the receive side of a replay: rules, queues, and the check of
// what was delivered.
type receive struct {
	faults
	play     *board.Player
	shape    *Shape
	seen     []bool // by ordinal
	queues   []*driver.RxQueue
	lastSeq  []int64 // per queue, the ordinal delivered last
	perQueue []int
	got      int
	bytes    int64
	verdicts func(ordinal int, cqe nicspec.RxCqe)
}

// setup asks the driver for rules and queues.
func (r *receive) setup(d *driver.Driver) error {
	r.seen = make([]bool, r.play.Total())
	for i, rule := range r.shape.rules() {
		d.WriteTable(nicspec.TableRule, i, rule.entry)
	}
	var def nicspec.RxDefaultReg
	def.SetAction(uint32(nicspec.ActionQueue))
	def.SetQueue(uint32(len(r.shape.Rx) - 1))
	d.WriteReg(nicspec.RegRxDefault, uint32(def))
	for i, c := range r.shape.Rx {
		c.Queue, c.OnFrame = i, r.frame
		q, err := d.NewRxQueue(c)
		if err != nil {
			return err
		}
		r.queues = append(r.queues, q)
		r.lastSeq = append(r.lastSeq, -1)
		r.perQueue = append(r.perQueue, 0)
	}
	return nil
}

// frame checks one delivered frame against the capture.
func (r *receive) frame(q *driver.RxQueue, cqe nicspec.RxCqe, hdr, pay []byte) {
	n := int(cqe.PortSeq())
	if n >= len(r.seen) {
		r.add("receive queue %d delivered frame %d, but only %d were sent", q.Queue(), n, r.play.Sent())
		return
	}
	if r.seen[n] {
		r.add("frame %d was delivered twice", n)
		return
	}
	r.seen[n] = true
	if last := r.lastSeq[q.Queue()]; int64(n) <= last {
		r.add("receive queue %d delivered frame %d after frame %d", q.Queue(), n, last)
	}
	r.lastSeq[q.Queue()] = int64(n)
	r.perQueue[q.Queue()]++
	r.got++
	r.bytes += int64(len(hdr) + len(pay))
	want := r.play.At(n)
	if len(hdr)+len(pay) != len(want) || !bytes.Equal(hdr, want[:len(hdr)]) || !bytes.Equal(pay, want[len(hdr):]) {
		r.add("frame %d in receive queue %d: %s", n, q.Queue(), firstDiff(want, append(append([]byte(nil), hdr...), pay...)))
	}
	if r.verdicts != nil {
		r.verdicts(n, cqe)
	}
}
