package wiretap

import (
	"container/heap"
	"errors"
	"fmt"
	"os"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/golden/trace"
	"nictwin/models/board"
	"nictwin/models/format/msg"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/shell/files"
)

// File is the name of the recording.
const File = "wires.pcapng"

// Tap records the cables of a rack.
type Tap struct {
	clock   simcore.Scheduler
	out     *trace.Pcapng
	file    *os.File
	waiting packetHeap
	idle    [][]byte // buffers of frames written, for reuse
	count   uint64   // number of frames recorded so far
	frame   trace.Frame
}

// Attach records a rack's cables from now on, in a file of at most limit bytes, 0 for no limit. It fails on a rack
// without cables.
func Attach(clock simcore.Scheduler, r *board.Rack, dir *files.Folder, limit int64) (*Tap, error) {
	if len(r.Cables) == 0 {
		return nil, fmt.Errorf("wiretap: rack %s has no cables: want a network of kind %s or %s", r.Name,
			board.NetworkBackToBack, board.NetworkSwitch)
	}
	file, err := dir.Create(File)
	if err != nil {
		return nil, err
	}
	t := &Tap{clock: clock, file: file}
	var names []string
	for i := range r.Cables {
		c := &r.Cables[i]
		for d := range c.Ports {
			names = append(names, fmt.Sprintf("%s to %s", c.Name, c.Ports[1-d].Name()))
		}
		for end, x := range c.Inserts {
			if x != nil {
				t.added(x, 2*i+1-end)
			}
		}
		if c.Wire != nil {
			t.listen(c.Wire, 2*i)
			continue
		}
		for d, link := range c.Entry {
			link.AcceptHook(&linkHook{tap: t, iface: 2*i + d, from: c.Ports[d]})
		}
	}
	t.out = trace.NewInterfaces(file, limit, names...)
	return t, nil
}

// Cut returns how many packets of the traffic are in the file, and how many were left out at its limit.
func (t *Tap) Cut() trace.Cut { return t.out.Cut() }

// Close writes the waiting packets and closes the file. It may be called again.
func (t *Tap) Close() error {
	if t.file == nil {
		return nil
	}
	for t.waiting.Len() > 0 {
		t.write()
	}
	err := errors.Join(t.out.Close(), t.file.Close())
	t.file = nil
	return err
}

// linkHook records the frames that a port sends over a link.
type linkHook struct {
	tap   *Tap
	iface int
	from  sim.Port
}

// Func implements sim.Hook.
func (x *linkHook) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosConnStartSend {
		return
	}
	if f, ok := ctx.Item.(*msg.Frame); ok && f.Src == x.from {
		x.tap.record(x.iface, f.Arrive, f.Data, nil)
	}
}

// listen records the frames that reach a cable's faults. A callback set before is still called.
func (t *Tap) listen(w *inject.Wire, first int) {
	before := w.Seen
	w.Seen = func(d inject.Direction, f *msg.Frame, s *inject.Strike) {
		if before != nil {
			before(d, f, s)
		}
		t.record(first+int(d), simcore.Now(t.clock), f.Data, comments(s))
	}
}

// added records the frames that are added to a cable, when they leave for its end. A callback set before is still
// called.
func (t *Tap) added(x *inject.Insert, iface int) {
	before := x.Seen
	x.Seen = func(f *msg.Frame) {
		if before != nil {
			before(f)
		}
		t.record(iface, simcore.Now(t.clock), f.Data, nil)
	}
}

// record queues a frame, with its time of arrival, and writes every queued frame that no frame still to come can
// precede.
func (t *Tap) record(iface int, at simcore.Ps, data []byte, comments []string) {
	if t.file == nil {
		return
	}
	now := simcore.Now(t.clock)
	for t.waiting.Len() > 0 && t.waiting[0].at < now {
		t.write()
	}
	var buf []byte
	if n := len(t.idle); n > 0 {
		buf, t.idle = t.idle[n-1], t.idle[:n-1]
	}
	heap.Push(&t.waiting, packet{at: at, number: t.count, iface: iface, data: append(buf[:0], data...),
		comments: comments})
	t.count++
}

// write writes the earliest waiting packet.
func (t *Tap) write() {
	p := heap.Pop(&t.waiting).(packet)
	t.frame = trace.Frame{Ns: int64(p.at / simcore.Nanosecond), ID: trace.NoID, Comments: p.comments}
	t.out.Packet(p.iface, &t.frame, p.data)
	t.idle = append(t.idle, p.data)
}

// packet is a frame in the queue, sorted by its time of arrival.
type packet struct {
	at       simcore.Ps
	number   uint64
	iface    int
	data     []byte
	comments []string
}

// packetHeap orders packets by timestamp, and packets of equal timestamps in the order in which they were recorded.
type packetHeap []packet

func (r packetHeap) Len() int { return len(r) }
func (r packetHeap) Less(i, j int) bool {
	return r[i].at < r[j].at || r[i].at == r[j].at && r[i].number < r[j].number
}
func (r packetHeap) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *packetHeap) Push(p any)   { *r = append(*r, p.(packet)) }
func (r *packetHeap) Pop() any {
	last := len(*r) - 1
	p := (*r)[last]
	(*r)[last] = packet{}
	*r = (*r)[:last]
	return p
}

// comments describes the faults that struck a frame.
func comments(s *inject.Strike) (all []string) {
	say := func(format string, a ...any) {
		which := fmt.Sprintf("frame %d of those without RoCE", s.PSN)
		if s.RoCE {
			which = fmt.Sprintf("PSN %d of its flow, attempt %d", s.PSN, s.Attempt)
		}
		all = append(all, fmt.Sprintf(format, a...)+": "+which)
	}
	if s.Lost {
		say("lost")
		return all
	}
	if s.Marked {
		say("marked CE, if ECN-capable")
	}
	if s.Corrupted {
		say("bit %d of byte %d flipped", s.Bit%8, s.Bit/8)
	}
	if s.Duplicated {
		say("sent on twice")
	}
	if s.Hold != (inject.HoldSpec{}) {
		say("held back for %d frames or %v", s.Hold.Frames, s.Hold.Time)
	}
	return all
}

var (
	_ sim.Hook       = (*linkHook)(nil)
	_ heap.Interface = (*packetHeap)(nil)
)
