package replay

import (
	"bytes"
	"fmt"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
)

// receive is the receive side of a replay: rules, queues, and the check of delivered frames.
type receive struct {
	faults
	ports     players
	fail      func(error) // ends the run with an error
	shape     *Shape
	inFlight  []inFlight       // by port: frames that may still be delivered
	pass      []int            // by port: number of frames in one pass over the captures
	records   []deliveryRecord // by port: frames already delivered
	queues    []*driver.Copier
	lastSeq   [][]int64 // by queue and port: ordinal of the frame delivered last
	perQueue  []int
	delivered []int // by port: number of delivered frames
	got       int   // number of delivered frames, of all ports
	bytes     int64
	verdicts  func(ordinal int, f traffic.Frame, cqe nicspec.RxCqe)
}

// setup creates rules and queues through the driver.
func (r *receive) setup(d *driver.Driver) error {
	r.records, r.delivered = make([]deliveryRecord, len(r.ports)), make([]int, len(r.ports))
	for i, rule := range r.shape.rules() {
		if err := d.SetRule(i, rule); err != nil {
			return err
		}
	}
	if err := d.SetDefault(driver.ToQueue(len(r.shape.Rx) - 1)); err != nil {
		return err
	}
	for i := range r.shape.Rx {
		if err := r.open(d, i, &r.shape.Rx[i]); err != nil {
			return err
		}
		r.lastSeq = append(r.lastSeq, slices.Repeat([]int64{-1}, len(r.ports)))
		r.perQueue = append(r.perQueue, 0)
	}
	return nil
}

// open enables a queue and posts its descriptors. It announces the first one to three before the others, so that the
// device fetches these separately and its next fetch begins inside a block of four.
func (r *receive) open(d *driver.Driver, number int, c *RxShape) error {
	q, err := d.OpenCopier(c.config(number), r.frame)
	if err != nil {
		return err
	}
	buffers, err := c.buffers(d, q.Size())
	if err != nil {
		return err
	}
	r.queues = append(r.queues, q)
	first := 1 + number%3
	d.Then(func() { r.fail(q.Fill(buffers[:first]...)) })
	d.ReadReg(nicspec.RegId, 4, nil)
	d.Then(func() { r.fail(q.Fill(buffers[first:]...)) })
	return nil
}

// frame checks a delivered frame against the capture.
func (r *receive) frame(q *driver.Copier, cqe nicspec.RxCqe, hdr, pay []byte) {
	port := int(cqe.Port())
	if port >= len(r.ports) {
		r.add(r.found(q.Number(), port, "R10", "port", fmt.Sprintf("less than %d", len(r.ports)), port),
			"receive queue %d delivered frame %d of port %d: there are %d ports", q.Number(), cqe.PortSeq(), port,
			len(r.ports))
		return
	}
	last, sent := &r.lastSeq[q.Number()][port], r.ports[port].Sent()
	n := ordinalOf(cqe.PortSeq(), sent)
	if n < 0 {
		r.add(r.found(q.Number(), port, "R1", "port_seq", fmt.Sprintf("one of the %d frames that came in", sent),
			cqe.PortSeq()),
			"receive queue %d delivered %s, but only %d were sent", q.Number(), r.name(port, int(cqe.PortSeq())), sent)
		return
	}
	switch r.records[port].mark(n) {
	case again:
		r.add(r.foundIn(q.Number(), port, n, "C1", "frame", "delivered once", "delivered twice"),
			"%s was delivered twice", r.name(port, n))
		return
	case tooLate:
		r.add(r.foundIn(q.Number(), port, n, "R11", "frame",
			fmt.Sprintf("delivered before %d later ones came in", deliverySpan), "later"),
			"%s was delivered after %d that were sent later", r.name(port, n), sent-1-n)
		return
	}
	if int64(n) <= *last {
		r.add(r.foundIn(q.Number(), port, n, "R11", "port_seq", fmt.Sprintf("after %d, which was delivered", *last), n),
			"receive queue %d delivered %s after frame %d", q.Number(), r.name(port, n), *last)
	}
	*last = int64(n)
	r.perQueue[q.Number()]++
	r.delivered[port]++
	r.got++
	r.bytes += int64(len(hdr) + len(pay))
	f, ok := r.inFlight[port].take(n)
	if !ok {
		r.add(r.foundIn(q.Number(), port, n, "C3", "frame",
			fmt.Sprintf("delivered before %d later bytes came in", inFlightBytes), "later"),
			"%s was delivered after %d bytes of frames that were sent later", r.name(port, n), inFlightBytes)
		return
	}
	want := f.Data
	if len(hdr)+len(pay) != len(want) || !bytes.Equal(hdr, want[:len(hdr)]) || !bytes.Equal(pay, want[len(hdr):]) {
		d := firstDiff(want, append(append([]byte(nil), hdr...), pay...))
		r.add(r.foundIn(q.Number(), port, n, "R10", d.field, d.want, d.got), "%s in receive queue %d: %s",
			r.name(port, n), q.Number(), d.text)
	}
	if r.verdicts != nil {
		r.verdicts(n, f, cqe)
	}
}

// name returns the text by which findings name a frame.
func (r *receive) name(port, ordinal int) string {
	if len(r.ports) == 1 {
		return fmt.Sprintf("frame %d", ordinal)
	}
	return fmt.Sprintf("frame %d of port %d", ordinal, port)
}
