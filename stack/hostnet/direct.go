package hostnet

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// Direct opens the path of plain DDIO: one receive queue in host memory for the flow, whose buffers are posted again
// after processing.
func Direct(c PathConfig) (Path, error) {
	d := &direct{c: c}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return d, d.steer()
}

type direct struct {
	c     PathConfig
	mark  bool // the queue marks packets as congestion experienced
	queue *driver.RxQueue
	taken fifo.Queue[Packet] // packets taken from the ring and not returned by Next
	err   error

	// With split buffers, which are posted in order:
	buffers []driver.Buffer
	order   *driver.InOrder
}

var _ Path = (*direct)(nil)

func (d *direct) open() error {
	b := &d.c.Buffers
	n := 1 << b.Log
	queue, err1 := d.c.TakeRxQueue()
	pay, err2 := d.c.Driver.AllocBuffers(nicspec.EndpointHost, uint64(n*b.Bytes), 4096)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	cfg := driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: queue, LogSize: b.Log, RingIn: nicspec.EndpointHost,
			DoneIn: nicspec.EndpointHost, Notice: driver.NoticePoll, Bus: d.c.Bus},
		PayBytes: b.Bytes, MarkCE: d.mark, OnFrame: d.arrived, OnEvent: d.failed,
	}
	var hdr uint64
	if b.Split > 0 {
		cfg.Split, cfg.SplitLen, cfg.HdrBytes = nicspec.SplitModeFixed, b.Split, b.HeaderBytes
		if hdr, err1 = d.c.Driver.AllocBuffers(nicspec.EndpointHost, uint64(n*b.HeaderBytes), 4096); err1 != nil {
			return err1
		}
		d.order = driver.NewInOrder(n, func(i uint64) error { return d.queue.Post(d.buffers[i]) })
	}
	if d.queue, err1 = d.c.Driver.OpenRx(cfg); err1 != nil {
		return err1
	}
	ring := d.queue.Layout()
	if _, err := d.c.Loop.Watch(ring.CQ, ring.CQBytes()); err != nil {
		return err
	}
	return d.fill(pay, hdr)
}

// steer sets a rule that leads the flow's frames to the queue.
func (d *direct) steer() error {
	rule, err := d.c.TakeRule()
	if err != nil {
		return err
	}
	to := d.c.Match
	to.To = driver.ToQueue(d.queue.Number())
	return d.c.Driver.SetRule(rule, to)
}

// fill posts all buffers, whose payload begins at pay and whose headers, if they are apart, at hdr.
func (d *direct) fill(pay, hdr uint64) error {
	b := &d.c.Buffers
	for i := range uint64(d.queue.Size()) {
		buf := driver.Buffer{Pay: pay + i*uint64(b.Bytes)}
		if b.Split > 0 {
			buf.Hdr = hdr + i*uint64(b.HeaderBytes)
		}
		d.buffers = append(d.buffers, buf)
		if err := d.queue.Post(buf); err != nil {
			return err
		}
	}
	return d.queue.Ring()
}

func (d *direct) arrived(_ *driver.RxQueue, f *driver.RxFrame) {
	p := Packet{Buffer: f.Buffer, HdrLen: f.HdrLen, PayLen: f.PayLen}
	p.SetCqe(f.Cqe)
	if d.order != nil {
		p.Slot = uint32((f.Pay - d.buffers[0].Pay) / uint64(d.c.Buffers.Bytes))
	}
	d.taken.Push(p)
}

func (d *direct) failed(q *driver.RxQueue, e driver.Event) {
	d.fail(fmt.Errorf("%s: receive queue %d failed with status %v", d.c.Name, q.Number(), e.Status))
}

func (d *direct) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// Next implements Path.
func (d *direct) Next(p *Packet) bool {
	if d.taken.Len() == 0 {
		d.queue.PollSome(d.c.Burst)
		if d.taken.Len() == 0 {
			return false
		}
	}
	*p = d.taken.Pop()
	return d.err == nil
}

// Done implements Path.
func (d *direct) Done(p *Packet) {
	if d.order == nil {
		d.check(d.queue.Post(p.Buffer))
	} else {
		d.postInOrder(p.Slot)
	}
	if d.err == nil && d.queue.Waiting() >= max(1, min(d.c.Repost, d.queue.Size()/4)) {
		if err := d.queue.Ring(); err != nil {
			d.fail(err)
		}
	}
}

// postInOrder posts freed buffers in the order of their addresses, so that consecutive packets are adjacent. It gives
// up the order while the NIC is short of buffers because one of them is in use for long.
func (d *direct) postInOrder(freed uint32) {
	d.check(d.order.Free(uint64(freed)))
	d.check(d.order.Overtake(d.queue.Size()/4 - d.queue.Posted()))
}

func (d *direct) check(err error) {
	if err != nil {
		d.fail(err)
	}
}

// Idle implements Path.
func (d *direct) Idle() bool { return d.taken.Len() == 0 }

// Err implements Path.
func (d *direct) Err() error { return d.err }

// Close implements Path.
func (d *direct) Close() {}
