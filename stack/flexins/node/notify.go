package node

import (
	"fmt"

	"nictwin/stack/driver"
	"nictwin/stack/flexins/data"
	"nictwin/stack/pipe"
)

// Notification is the way in which requests get from the library to the data cores.
type Notification string

// Kinds of notification (FN 3.4 and its figure 15a).
const (
	Pipe Notification = "pipe" // DMA writes elements into Arm memory
	// elements stay in host memory, and the card fetches them; the host announces them by a DMA
	DoorbellPushed Notification = "doorbell_pushed"
	// elements stay in host memory, and the card fetches them; the card polls a record that counts them
	DoorbellPolled Notification = "doorbell_polled"
	// the host core writes elements into Arm memory by register writes
	MMIO Notification = "mmio"
)

func (n Notification) valid() bool {
	return n == Pipe || n == DoorbellPushed || n == DoorbellPolled || n == MMIO
}

// link creates one pipe of a context to a data core, and returns both ends. watch lists the ranges whose writes may
// announce an element.
func (n *Node) link(up direction, core int) (p pipe.Sender, c pipe.Receiver, watch []pipe.Extent, err error) {
	switch kind := n.cfg.Spec.Notify; kind {
	case DoorbellPushed:
		return n.doorbellPipe(up, core, pipe.Pushed)
	case DoorbellPolled:
		return n.doorbellPipe(up, core, pipe.Polled)
	case MMIO:
		return n.mmioPipe(up, core)
	default:
		p, c, at, err := up.pipe(n.data.Memory(core))
		return p, c, []pipe.Extent{at}, err
	}
}

// doorbellPipe creates a pipe whose ring is in host memory. Its counter is on the card, and so is a pushed record.
func (n *Node) doorbellPipe(up direction, core int, kind pipe.RecordKind) (p pipe.Sender, c pipe.Receiver,
	watch []pipe.Extent,
	err error) {
	bytes := uint64(up.spec.Bytes())
	near, err := up.from.Alloc(bytes+pipe.LineBytes, pipe.LineBytes) // for ring and record
	if err != nil {
		return nil, nil, nil, err
	}
	far, err := up.to.Alloc(2*pipe.LineBytes, pipe.LineBytes) // for counter and record
	if err != nil {
		return nil, nil, nil, err
	}
	staged, err := up.from.Alloc(2*pipe.LineBytes, pipe.LineBytes)
	if err != nil {
		return nil, nil, nil, err
	}
	up.from.Mark(near, bytes, driver.UseElements)
	up.from.Mark(near+bytes, pipe.LineBytes, driver.UseDoorbells)
	up.to.Mark(far, 2*pipe.LineBytes, driver.UseDoorbells)
	up.from.Mark(staged, 2*pipe.LineBytes, driver.UseDoorbells)
	at := pipe.DoorbellPlace{Place: pipe.Place{Ring: near, Counter: far}, Kind: kind, Record: near + bytes}
	if kind == pipe.Pushed {
		at.Record = far + pipe.LineBytes
		watch = []pipe.Extent{{From: at.Record, Bytes: pipe.LineBytes}}
	}
	if p, err = pipe.NewDoorbell(up.spec, at, up.local,
		pipe.NewStaged(up.local, up.engine, staged, far, 2*pipe.LineBytes)); err != nil {
		return nil, nil, nil, err
	}
	c, err = n.data.Fetcher(core, up.context, at, pipe.Extent{From: near, Bytes: bytes + pipe.LineBytes})
	return p, c, watch, err
}

// mmioPipe creates a pipe whose lines are register writes.
func (n *Node) mmioPipe(up direction, core int) (p pipe.Sender, c pipe.Receiver, watch []pipe.Extent, err error) {
	bytes := uint64(up.spec.Bytes())
	to, err := up.to.Alloc(bytes+pipe.LineBytes, pipe.LineBytes)
	if err != nil {
		return nil, nil, nil, err
	}
	if end := to + bytes + pipe.LineBytes; end > 1<<32 {
		return nil, nil, nil, fmt.Errorf("notify mmio: Arm memory up to %#x: want it below 2^32, the offsets of "+
			"registers", end)
	}
	up.to.Mark(to, bytes, driver.UseElements)
	up.to.Mark(to+bytes, pipe.LineBytes, driver.UseDoorbells)
	place := pipe.Place{Ring: to, Counter: to + bytes}
	if p, err = pipe.NewProducer(up.spec, place, pipe.NewMMIO(up.window)); err != nil {
		return nil, nil, nil, err
	}
	c, err = pipe.NewConsumer(up.spec, place, n.data.Memory(core))
	return p, c, []pipe.Extent{{From: to, Bytes: bytes}}, err
}

// attach creates the pipes of a context to all data cores, and returns their producing ends.
func (n *Node) attach(up direction) (sq, rq []pipe.Sender, err error) {
	var ends []data.Ends
	for i := range n.data.Cores() {
		collecting := up
		collecting.spec = n.cfg.Spec.Data.Collecting()
		s, takeSend, sends, err := n.link(collecting, i)
		if err != nil {
			return nil, nil, err
		}
		r, takeRecv, recvs, err := n.link(up, i)
		if err != nil {
			return nil, nil, err
		}
		sq, rq = append(sq, s), append(rq, r)
		ends = append(ends, data.Ends{SQ: takeSend, RQ: takeRecv, Watch: append(sends, recvs...)})
	}
	return sq, rq, n.data.Attach(up.context, ends)
}
