package requester

import (
	"errors"
	"fmt"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Start implements Port.
func (r *Requester) Start(t *Transfer) error {
	switch {
	case t.Done == nil || len(t.Data) == 0:
		return errors.New("requester: a transfer without bytes or Done: want both")
	case t.From.Network && t.To.Network:
		return errors.New("requester: a transfer from the network to the network: want memory on one side")
	case (t.From.Network || t.To.Network) && r.spec.Network == (Network{}):
		return errors.New("requester: a transfer over a network that its spec does not have")
	case !t.From.Network && endpoint(t.From.Addr) >= Endpoints || !t.To.Network && endpoint(t.To.Addr) >= Endpoints:
		return fmt.Errorf("requester: a transfer from %#x to %#x: want Arm or host memory", t.From.Addr, t.To.Addr)
	}
	t.arrived, t.left, t.packed, t.asked = 0, 0, 0, false
	if t.From.Network {
		r.arriving.Push(t)
		if r.arriving.Len() == 1 {
			r.nextPacket(t, r.spec.Extended)
		}
		return nil
	}
	if t.To.Network { // the packet with the peer's READ request comes in first
		r.counts.NetIn += uint64(r.spec.Header + r.spec.Extended)
		r.in.Transmit(simcore.Now(r.sched), int64(r.spec.Header+r.spec.Extended))
	}
	r.reading.Push(t)
	r.pump()
	return r.failed
}

// nextPacket schedules the arrival of a transfer's next packet. Its header is `more` bytes longer than usual.
func (r *Requester) nextPacket(t *Transfer, more int) {
	n := min(r.spec.Payload, len(t.Data)-t.arrived)
	bytes := n + r.spec.Header + more
	r.counts.NetIn += uint64(bytes)
	r.counts.NetPayloadIn += uint64(n)
	ev := r.events.Get()
	ev.H, ev.Kind, ev.Arg, ev.At = r, kindPacketIn, t, r.in.Transmit(simcore.Now(r.sched), int64(bytes))
	r.sched.Schedule(ev)
}

// packetIn queues the memory writes for the packet that has arrived.
func (r *Requester) packetIn(t *Transfer) {
	n := min(r.spec.Payload, len(t.Data)-t.arrived)
	r.write(t, t.arrived, n)
	if t.arrived += n; t.arrived < len(t.Data) {
		r.nextPacket(t, 0)
		return
	}
	r.arriving.Pop()
	if r.arriving.Len() > 0 {
		r.nextPacket(*r.arriving.Front(), r.spec.Extended)
	}
	ack := r.spec.Header + r.spec.Ack
	r.counts.NetOut += uint64(ack)
	r.off.Transmit(simcore.Now(r.sched), int64(ack))
}

// write queues the memory writes of n bytes of a transfer, beginning at the offset given by at.
func (r *Requester) write(t *Transfer, at, n int) {
	split := tlp.SplitWrite(t.To.Addr+uint64(at), n, r.spec.MPS[endpoint(t.To.Addr)], tlp.Aligned)
	for w, ok := split.Next(); ok; w, ok = split.Next() {
		p := r.tlps.Get()
		from := int(w.Addr - t.To.Addr)
		b := p.Own(w.Len)
		copy(b, t.Data[from:from+w.Len]) // a copy, since the transfer's buffer may change before the TLP is consumed
		if err := p.SetMemWrite(r.origin(), w.Addr, b); err != nil {
			r.fail(err)
		}
		r.queue(t).Push(sent{p, t, w.Len})
	}
}

// queue returns the queue for a transfer's memory writes.
func (r *Requester) queue(t *Transfer) *fifo.Queue[sent] {
	switch {
	case r.spec.Copies == InOrder:
		return &r.out
	case t.From.Network:
		return &r.apart[frames]
	}
	return &r.apart[copies]
}

// ask queues the next read request if tags and buffer allow it. Transfers are read one after the other.
func (r *Requester) ask(q *fifo.Queue[sent]) bool {
	if r.reading.Len() == 0 || r.free.Len() == 0 {
		return false
	}
	t := *r.reading.Front()
	if !t.asked {
		t.reads = tlp.SplitRead(t.From.Addr, len(t.Data), r.spec.MRRS, tlp.Aligned)
		t.next, t.asked = t.reads.Next()
	}
	if r.held+t.next.Len > r.spec.Buffer {
		return false
	}
	tag := r.free.Pop()
	r.tags[tag] = read{t: t, at: int(t.next.Addr - t.From.Addr), n: t.next.Len}
	r.held += t.next.Len
	p := r.tlps.Get()
	if err := p.SetMemRead(r.origin(), tag, t.next.Addr, t.next.Len); err != nil {
		r.fail(err)
	}
	q.Push(sent{p: p})
	if t.next, t.asked = t.reads.Next(); !t.asked {
		r.reading.Pop()
	}
	return true
}

// completion stores the bytes of a read completion.
func (r *Requester) completion(p *msg.TLP) {
	h := p.Parsed()
	x := &r.tags[h.Tag]
	if h.Kind != tlp.CplD || h.Status != tlp.StatusSC || x.t == nil {
		r.fail(fmt.Errorf("%v: want completions of its own reads, with data", p))
		return
	}
	t, n := x.t, len(p.Data)
	if h.ByteCount != uint16(x.n-x.came)&0xfff {
		r.fail(fmt.Errorf("%v: byte count %d, want %d", p, h.ByteCount, x.n-x.came))
		return
	}
	lead := int(t.From.Addr+uint64(x.at+x.came)) & (tlp.DWBytes - 1)
	n = min(n-lead, x.n-x.came)
	copy(t.Data[x.at+x.came:], p.Data[lead:lead+n])
	x.came += n
	t.arrived += n
	if t.To.Network {
		r.sendPackets(t)
	}
	if x.came < x.n {
		return
	}
	if at, n := x.at, x.n; !t.To.Network {
		r.write(t, at, n)
	}
	*x = read{}
	r.free.Push(h.Tag)
}

// sendPackets sends as many packets as completions have brought bytes for. It goes by the number of bytes, not by which
// ones they are.
func (r *Requester) sendPackets(t *Transfer) {
	for {
		n := min(r.spec.Payload, len(t.Data)-t.packed)
		if n == 0 || t.arrived < t.packed+n {
			return
		}
		bytes := n + r.spec.Header
		if t.packed == 0 {
			bytes += r.spec.Ack
		}
		t.packed += n
		r.counts.NetOut += uint64(bytes)
		r.counts.NetPayloadOut += uint64(n)
		ev := r.events.Get()
		ev.H, ev.Kind, ev.At = r, kindPacketOut, r.off.Transmit(simcore.Now(r.sched), int64(bytes))
		ev.Arg = r.packet(t, n)
		r.sched.Schedule(ev)
	}
}

func (r *Requester) packet(t *Transfer, bytes int) *packet {
	n := len(r.idle)
	if n == 0 {
		return &packet{t, bytes}
	}
	p := r.idle[n-1]
	r.idle = r.idle[:n-1]
	*p = packet{t, bytes}
	return p
}
