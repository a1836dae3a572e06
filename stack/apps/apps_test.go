package apps

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/sim/field"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/stack/verbs"
)

// TestPatternsTellMessagesApart checks that messages that differ in any parameter have different bytes, and that a
// short message has the first bytes of a longer one.
func TestPatternsTellMessagesApart(t *testing.T) {
	make64 := func(seed uint64, flow, direction, message int) string {
		b := make([]byte, 64)
		pattern(b, seed, flow, direction, message)
		require.Equal(t, message, stamp(b))
		return string(b[stampLen:])
	}
	seen := map[string]bool{}
	for seed := range uint64(3) {
		for flow := range 5 {
			for direction := range 2 {
				for message := range 50 {
					seen[make64(seed, flow, direction, message)] = true
				}
			}
		}
	}
	require.Len(t, seen, 3*5*2*50)
	for n := range 40 { // a shorter message has the same bytes at the same offsets
		long, short := make([]byte, 64), make([]byte, n)
		pattern(long, 1, 2, 0, 3)
		pattern(short, 1, 2, 0, 3)
		require.True(t, n < stampLen || bytes.Equal(short, long[:n]), n)
	}
	b := make([]byte, 8)
	pattern(b[:7], 1, 2, 0, 3)
	c := bytes.Clone(b)
	require.Equal(t, -1, differ(b, c))
	c[5]++
	require.Equal(t, 5, differ(b, c))
	require.Equal(t, -1, stamp(b[:3]))
}

// flat is memory that starts at address 0.
type flat []byte

func (m flat) Load(a uint64, b []byte) error  { copy(b, m[a:]); return nil }
func (m flat) Store(a uint64, b []byte) error { copy(m[a:], b); return nil }
func (m flat) Read(a uint64, b []byte) error  { return m.Load(a, b) }
func (m flat) Write(a uint64, b []byte) error { return m.Store(a, b) }

// TestAreas checks that slots and pieces do not overlap, are aligned, and return what was stored, and that a changed
// guard byte is found.
func TestAreas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots, n := rapid.IntRange(1, 5).Draw(t, "slots"), rapid.IntRange(0, 300).Draw(t, "bytes")
		pieces, offset := rapid.IntRange(1, 4).Draw(t, "pieces"), rapid.IntRange(0, 63).Draw(t, "offset")
		r := arena{next: 128, end: 1 << 20}
		a, err := r.alloc(slots, n, pieces, offset)
		require.NoError(t, err)
		m := make(flat, r.next+64)
		require.NoError(t, a.fillGuards(m))
		want := make([][]byte, slots)
		for s := range slots {
			want[s] = make([]byte, n)
			pattern(want[s], 1, 0, 0, s)
			require.NoError(t, a.store(m, s, a.chunk(n), want[s]))
			total := 0
			for _, x := range a.spans(nil, s, n, a.chunk(n), 7) {
				require.Equal(t, uint64(offset), x.Addr%line)
				require.LessOrEqual(t, x.Addr+uint64(x.Length)+guardBytes, r.next)
				total += int(x.Length)
			}
			require.Equal(t, n, total)
		}
		b := make([]byte, a.pieceStride)
		for s := range slots {
			got := make([]byte, n)
			require.NoError(t, a.load(m, s, 0, a.chunk(n), got))
			require.Equal(t, want[s], got)
			from := rapid.IntRange(0, n).Draw(t, "from")
			require.NoError(t, a.load(m, s, from, a.chunk(n), got[from:]))
			require.Equal(t, want[s], got)
			require.Len(t, a.spans(nil, s, n, a.chunk(n), 7), len(a.message(nil, s, 0, n, 7)))
		}
		_, _, ok, err := a.checkGuards(m, b)
		require.True(t, ok && err == nil)
		at := a.pieceAddr(rapid.IntRange(0, slots-1).Draw(t, "slot"), rapid.IntRange(0, pieces-1).Draw(t, "piece")) +
			uint64(a.piece) + uint64(rapid.IntRange(0, guardBytes-1).Draw(t, "behind"))
		m[at] = 1
		addr, got, ok, err := a.checkGuards(m, b)
		require.True(t, !ok && err == nil && addr == at && got == 1)
	})
	r := arena{next: 0, end: 1000}
	_, err := r.alloc(10, 100, 1, 0)
	require.ErrorContains(t, err, "10 messages of 100 B: want 1920 B of memory on a server, 1000 are left")
}

// TestCountersFollowTheAtomics plays a client's atomics on a counter: each must return the value that the model
// expects, and the final value must agree.
func TestCountersFollowTheAtomics(t *testing.T) {
	s := DefaultSpec()
	s.Kind = Atomics
	c, v := counter{before: make([]uint64, 3), ops: make([]atomic, 3)}, uint64(0)
	for m := range 100 {
		w := verbs.SendWR{}
		c.fill(&w, m)
		c.fill(&w, m) // building the request again changes nothing
		require.Equal(t, v, c.before[m%3])
		if s.atomic(m) == verbs.WRFetchAdd {
			v += w.CompareAdd
		} else if v == w.CompareAdd {
			v = w.Swap
		}
		require.Equal(t, v, c.value)
	}
}

// TestListsAreWhole checks that walks find their nodes, that each list is complete, and that no two nodes share a slot
// or a key.
func TestListsAreWhole(t *testing.T) {
	for _, hops := range [][]int{nil, {1}, {0}, {3, 0, 30}, {64}} {
		s := DefaultSpec()
		s.Kind, s.Hops, s.Seed = ListWalk, hops, 77
		slots, keys := map[int]bool{}, map[uint64]bool{s.key(1, -1): true}
		for i := range s.nodes() {
			require.Less(t, s.slot(i), s.spread())
			slots[s.slot(i)], keys[s.key(1, i)] = true, true
		}
		require.Len(t, slots, s.nodes())
		require.Len(t, keys, s.nodes()+1, "the key that is nowhere is none of these")
		for m := range 2 * len(hops) {
			require.LessOrEqual(t, s.hops(m), s.nodes())
		}
	}
}

func TestSignals(t *testing.T) {
	s := DefaultSpec()
	s.Count, s.SignalEvery = 20, 8
	var all []int
	for m := range s.Count {
		if s.signals(m) {
			all = append(all, m)
		}
		require.True(t, s.signals(s.signalled(m)) && s.signalled(m) >= m)
	}
	require.Equal(t, []int{7, 15, 19}, all)
}

// TestCompare checks, for each degree of agreement, which changes of a result count as differences.
func TestCompare(t *testing.T) {
	of := func(change func(*Result)) *Result {
		r := &Result{Memory: []Contents{{"A", "a"}, {"B", "b"}}, Streams: []Stream{
			{Server: "A", Client: true, List: []Completion{{ID: 0, Message: 0}, {ID: 1, Message: 1}}},
			{Server: "A", Client: true, Recv: true, Loose: true,
				List: []Completion{{ID: 0, Recv: true, Message: 0}, {ID: 1, Recv: true, Message: 1}}},
			{Server: "B", Recv: true,
				List: []Completion{{ID: 5, Recv: true, Opcode: verbs.WCRecv, Bytes: 9, Message: 0},
					{ID: 6, Recv: true, Opcode: verbs.WCRecv, Bytes: 8, Message: 1}}},
		}}
		change(r)
		return r
	}
	same := of(func(*Result) {})
	for name, x := range map[string]struct {
		change func(*Result)
		differ []Compare
		says   string
	}{
		"nothing": {func(*Result) {}, nil, ""},
		"memory": {func(r *Result) { r.Memory[1].SHA256 = "c" }, []Compare{Exact},
			"the memory of server B in the end"},
		"a slot": {func(r *Result) { r.Streams[2].List[0].ID = 7 }, []Compare{Exact},
			`server B, server of flow 0, receive queue: completion 0: "receive request 5`},
		"a message": {func(r *Result) { r.Streams[2].List[0].Message = 1 }, []Compare{Exact, Messages}, "completion 0"},
		"a length":  {func(r *Result) { r.Streams[2].List[1].Bytes = 7 }, []Compare{Exact, Messages}, "8 B"},
		"a status": {func(r *Result) { r.Streams[0].List[1].Status = verbs.WCFlushErr },
			[]Compare{Exact, Messages, Counts}, ""},
		"an order": {func(r *Result) { l := r.Streams[1].List; l[0].Message, l[1].Message = 1, 0 }, []Compare{Exact},
			"server A, client of flow 0, receive queue: completion 0"},
		"another": {func(r *Result) { r.Streams[1].List[1].Message = 0 }, []Compare{Exact, Messages}, "completion 1"},
		"one less": {func(r *Result) { r.Streams[0].List = r.Streams[0].List[:1] }, []Compare{Exact, Messages, Counts},
			""},
		"one more": {func(r *Result) { r.Streams[0].List = append(r.Streams[0].List, Completion{ID: 2}) },
			[]Compare{Exact, Messages, Counts}, ""},
	} {
		other := of(x.change)
		for _, how := range []Compare{Exact, Messages, Counts} {
			d, want := same.Difference(other, how), false
			for _, k := range x.differ {
				want = want || k == how
			}
			require.Equal(t, want, d != "", "%s, %s: %s", name, how, d)
			require.Equal(t, want, same.Digest(how) != other.Digest(how), "%s, %s", name, how)
			if want && how == Exact {
				require.Contains(t, d, x.says)
			}
		}
	}
}

func TestDefaultIsValid(t *testing.T) {
	s := DefaultSpec()
	require.NoError(t, s.Validate())
	s = Spec{}
	require.Greater(t, len(field.Each(s.Validate())), 5, "every error at once")
}

// TestSharedPoolAlwaysEnds has applications of a server share a receive queue, with as few buffers and as large batches
// as are allowed, while messages come to drawn flows and answers free their buffers only when one has a completion.
// There is a request for every message, and in the end none is left over.
func TestSharedPoolAlwaysEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := DefaultSpec()
		spec.SharedReceive, spec.SharedReceiveBy, spec.Kind = true, SharedByServer, Reflector
		spec.Depth = 8
		spec.SignalEvery = rapid.IntRange(1, spec.Depth).Draw(t, "signal_every")
		spec.ReceiveBatch = rapid.IntRange(1, 6).Draw(t, "receive_batch")
		spec.Receives = spec.ReceiveBatch + spec.SignalEvery - 1 + rapid.IntRange(0, 3).Draw(t, "more")
		spec.Count = rapid.IntRange(1, 60).Draw(t, "count")
		require.NoError(t, spec.Validate())
		apps, flows := rapid.IntRange(1, 4).Draw(t, "applications"), rapid.IntRange(1, 3).Draw(t, "flows")
		p := &pool{total: apps * flows * spec.Count}
		p.area.slots, p.area.pieces = apps*flows*spec.receives(), 1
		var posted []int // slots, oldest first
		var all []*receives
		for range apps {
			r := &receives{pool: p, side: &side{}, spec: &spec}
			r.post = func(wrs []verbs.RecvWR) (int, error) {
				for _, w := range wrs {
					posted = append(posted, int(w.ID&(1<<slotBits-1)))
				}
				return len(wrs), nil
			}
			r.makeBatch()
			r.hand(flows * spec.receives())
			all = append(all, r)
		}
		for _, r := range all {
			r.begin()
		}
		type flow struct {
			messages int
			held     []int
		}
		list := make([]flow, apps*flows)
		for range p.total {
			i := rapid.IntRange(0, len(list)-1).Draw(t, "flow")
			for list[i].messages == spec.Count {
				i = (i + 1) % len(list)
			}
			require.NotEmpty(t, posted, "%+v", list)
			f := &list[i]
			f.held, posted = append(f.held, posted[0]), posted[1:]
			if f.messages++; spec.signals(f.messages - 1) {
				for _, slot := range f.held {
					all[i/flows].postSlot(slot)
				}
				f.held = nil
			}
		}
		require.Equal(t, p.total, p.posted)
		require.Empty(t, posted)
	})
}
