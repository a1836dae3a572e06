package core

import "nictwin/models/memory/mem"

// naive is a simple implementation of the same cache, to compare with: for each set a list of
// lines, most recently used first, each with a map of its bytes.
type naive struct {
	g       Geometry
	sets    map[uint64][]*naiveLine
	victims uint64
	Counters
}

type naiveLine struct {
	line    uint64
	way     int
	bytes   map[int]byte
	dirty   bool
	pending bool
	owner   mem.Agent
}

func newNaive(g Geometry) *naive { return &naive{g: g, sets: map[uint64][]*naiveLine{}} }

func (n *naive) set(line uint64) uint64 {
	if n.g.Index == Hashed {
		line = Mix(line)
	}
	return line % n.g.Sets()
}

func (n *naive) find(line uint64) *naiveLine {
	for _, l := range n.sets[n.set(line)] {
		if l.line == line {
			return l
		}
	}
	return nil
}

func (n *naive) front(l *naiveLine) {
	n.remove(l)
	s := n.set(l.line)
	n.sets[s] = append([]*naiveLine{l}, n.sets[s]...)
}

func (n *naive) remove(l *naiveLine) {
	s := n.set(l.line)
	var rest []*naiveLine
	for _, o := range n.sets[s] {
		if o != l {
			rest = append(rest, o)
		}
	}
	n.sets[s] = rest
}

// choose returns a way of a set for a new line, and the line to be evicted from it.
func (n *naive) choose(s uint64, allowed func(way int) bool) (way int, out *naiveLine, ok bool) {
	at := map[int]*naiveLine{}
	for _, l := range n.sets[s] {
		at[l.way] = l
	}
	var candidates []*naiveLine // candidates by way; nil: the way may not be used
	for way := range n.g.Ways {
		if !allowed(way) {
			continue
		}
		if at[way] == nil {
			return way, nil, true
		}
		if !at[way].pending {
			candidates = append(candidates, at[way])
		}
	}
	if len(candidates) == 0 {
		return 0, nil, false
	}
	if n.g.Replacement == Random {
		out = candidates[Mix(n.g.Seed+n.victims*0x9e3779b97f4a7c15)%uint64(len(candidates))]
		return out.way, out, true
	}
	for _, l := range n.sets[s] { // ends with the least recently used one
		for _, c := range candidates {
			if l == c {
				out = l
			}
		}
	}
	return out.way, out, true
}

// step does what Cache.Step does; `back` receives the bytes of a line that is written back.
func (n *naive) step(r *Request, fetchRoom, backRoom bool) (out Outcome, back map[int]byte) {
	t, l := &n.Counters[r.By], n.find(r.Line)
	if !r.Op.Moves() {
		return n.maintain(r, l, backRoom)
	}
	if l == nil && r.By == mem.Device && (r.Op == mem.Read || n.g.DeviceWays == 0) {
		n.count(r)
		if n.buffer(r, false); r.Op == mem.Read {
			t.BypassReads++
			t.BypassReadBytes += uint64(len(r.Data))
		} else {
			t.BypassWrites++
			t.BypassWriteBytes += uint64(len(r.Data))
		}
		return Outcome{Kind: Bypass}, nil
	}
	hit := l != nil
	if l == nil {
		if l, out, back = n.insert(r, fetchRoom, backRoom); l == nil {
			return Outcome{}, nil
		}
	}
	n.count(r)
	n.front(l)
	out.Kind = Hit
	if r.Op == mem.Write {
		for i, v := range r.Data {
			l.bytes[r.Off+i] = v
		}
		l.dirty, l.owner = true, r.By
		if hit {
			t.WriteHits++
		}
		return out, back
	}
	for i := range r.Data {
		v, ok := l.bytes[r.Off+i]
		if !ok {
			if out.Kind = Joined; hit {
				t.Joins++
			}
			n.buffer(r, false)
			return out, back
		}
		r.Data[i] = v
	}
	t.ReadHits++
	n.buffer(r, true)
	return out, back
}

// isBuffer says that every third line is in a buffer.
func isBuffer(line uint64) bool { return line%3 == 0 }

func (n *naive) buffer(r *Request, hit bool) {
	if r.Op != mem.Read || r.Again || !isBuffer(r.Line) {
		return
	}
	if n.Counters[r.By].BufferReads++; hit {
		n.Counters[r.By].BufferHits++
	}
}

func (n *naive) count(r *Request) {
	t := &n.Counters[r.By]
	if r.Op == mem.Read {
		t.Reads++
		t.ReadBytes += uint64(len(r.Data))
	} else {
		t.Writes++
		t.WriteBytes += uint64(len(r.Data))
	}
}

func (n *naive) insert(r *Request, fetchRoom, backRoom bool) (l *naiveLine, out Outcome, back map[int]byte) {
	fetch := r.Op == mem.Read || len(r.Data) != mem.LineBytes
	way, old, ok := n.choose(n.set(r.Line),
		func(way int) bool { return r.By == mem.Core || n.g.DeviceWays>>way&1 == 1 })
	if !ok || fetch && !fetchRoom || old != nil && old.dirty && !backRoom {
		return nil, Outcome{}, nil
	}
	if old != nil {
		if n.victims++; old.dirty {
			out.WriteBack, out.Victim, back = true, old.line, old.bytes
			n.Counters[old.owner].EvictedDirty++
		}
		n.Counters[old.owner].Evicted++
		n.remove(old)
	}
	if out.Fetch = fetch; fetch {
		n.Counters[r.By].Fetches++
	} else {
		n.Counters[r.By].FullWrites++
	}
	l = &naiveLine{line: r.Line, way: way, bytes: map[int]byte{}, pending: fetch, owner: r.By}
	n.front(l)
	return l, out, back
}

func (n *naive) maintain(r *Request, l *naiveLine, backRoom bool) (out Outcome, back map[int]byte) {
	t := &n.Counters[r.By]
	if l != nil && (l.pending || r.Op == mem.Clean && l.dirty && !backRoom) {
		return Outcome{}, nil
	}
	out.Kind = Hit
	if r.Op == mem.Clean {
		if t.Cleans++; l != nil && l.dirty {
			l.dirty, out.WriteBack, out.Victim, back = false, true, l.line, l.bytes
			n.Counters[l.owner].CleanedLines++
		}
		return out, back
	}
	if t.Invalidates++; l != nil {
		n.Counters[l.owner].Dropped++
		if l.dirty {
			n.Counters[l.owner].DroppedDirty++
		}
		n.remove(l)
	}
	return out, nil
}

// fill completes a fetch with the bytes that a line lacks; nil data: the fetch failed.
func (n *naive) fill(line uint64, data []byte) {
	l := n.find(line)
	l.pending = false
	if data == nil {
		n.Counters[l.owner].FailedFetches++
		n.remove(l)
		return
	}
	for i, v := range data {
		if _, ok := l.bytes[i]; !ok {
			l.bytes[i] = v
		}
	}
}
