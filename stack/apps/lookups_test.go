package apps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

// reading is a queue pair whose READs copy bytes of one memory. Field room is how many more READs it takes.
type reading struct {
	script
	memory flat
	room   int
	ended  []verbs.WC
	flip   func(wr *verbs.SendWR) // changes the bytes of a READ that has ended
}

func (q *reading) PostSend(wrs []verbs.SendWR) (int, error) {
	for i := range wrs {
		if q.room == 0 {
			return i, verbs.Errorf("post_send", verbs.ENOMEM, "full")
		}
		q.room--
		w := &wrs[i]
		to := w.SGEs[0]
		copy(q.memory[to.Addr:], q.memory[w.RemoteAddr:][:to.Length])
		if q.flip != nil {
			q.flip(w)
		}
		if w.Flags&verbs.SendSignaled != 0 {
			q.ended = append(q.ended, verbs.WC{ID: w.ID, Opcode: verbs.WRRead.Completion()})
		}
	}
	return len(wrs), nil
}

// newLookups returns the client of a workload of lookups, and its queue pair, whose READs go to the server's memory.
func newLookups(t *testing.T, change func(*Spec)) (*lookup, *reading) {
	spec := DefaultSpec()
	spec.Kind, spec.By, spec.Sizes, spec.Count, spec.Depth = ListWalk, kind.ByReads, []int{64}, 9, 3
	change(&spec)
	require.NoError(t, spec.Validate())
	q := &reading{memory: make(flat, 1<<18), room: 1 << 20}
	s := &side{run: &Run{spec: &spec}, cq: q, Side: Side{Core: q.memory, Memory: q.memory}, byQPN: map[uint32]*end{}}
	s.want, s.got = make([]byte, 1<<13), make([]byte, 1<<13)
	u := &setup{Run: s.run}
	s.run.sides, s.arena = []*side{s}, arena{next: 64, end: 1 << 18}
	r := &server{end: &end{spec: &spec, side: s}}
	var err error
	r.exposed, err = s.arena.alloc(spec.spread(), NodeBytes, 1, 0)
	require.NoError(t, err)
	require.NoError(t, r.fillLookup())
	e := &end{spec: &spec, side: s, qp: q, client: true, total: spec.Count}
	l := &lookup{client: &client{end: e, remote: r.exposed}}
	l.role, s.ends, s.byQPN[0] = l, []*end{l.end}, l.end
	l.makeBatch()
	longest, _ := s.lengths()
	l.out, l.served = u.allocArea(s, spec.Depth, longest, 1), u.newServed()
	require.NoError(t, u.shortage)
	return l, q
}

// play plays the lookups to their end. READs that find the queue full get room once those in it have completed.
func play(l *lookup, q *reading) {
	for l.advance(); len(q.ended) > 0 || l.full && !l.stopped; l.advance() {
		if len(q.ended) > 0 {
			wc := q.ended[0]
			q.ended = q.ended[1:]
			l.completed(&wc)
		}
		q.room = max(q.room, 2)
		l.side.retry()
	}
}

// TestLookupsReadEveryByte plays walks and batches, also with a queue that takes a few READs at a time, and checks that
// a wrong byte ends them with a finding that names it.
func TestLookupsReadEveryByte(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*Spec)
		reads  int
	}{
		"walks":   {func(s *Spec) { s.Hops = []int{1, 5, 0} }, 3 * (1 + 5 + 5)},
		"batches": {func(s *Spec) { s.Kind, s.Sizes, s.Hops = BatchedRead, []int{64, 640}, nil }, 5*1 + 4*10},
	} {
		for _, room := range []int{1 << 20, 2} {
			l, q := newLookups(t, x.change)
			q.room = room
			play(l, q)
			require.Nil(t, l.firstFault, name)
			require.True(t, l.done(), name)
			require.Equal(t, []int{9, x.reads, x.reads}, []int{l.messages, l.reads, l.over}, name)
		}
	}
	for at, says := range map[int]string{0: "byte 0 at", 71: "byte 71 at", 72: "byte 72 at", 79: "byte 79 at"} {
		l, q := newLookups(t, func(s *Spec) { s.Hops = []int{4} })
		q.flip = func(w *verbs.SendWR) {
			if w.ID == 7 {
				q.memory[w.SGEs[0].Addr+uint64(at)] ^= 0x10
			}
		}
		play(l, q)
		require.Contains(t, l.firstFault.Text, says)
		require.True(t, l.stopped && l.done(), "nothing is under way any more")
	}
}

// TestLookupsFollowTheBytes checks that a walk takes the address of the next node out of the bytes that arrived.
func TestLookupsFollowTheBytes(t *testing.T) {
	l, q := newLookups(t, func(s *Spec) { s.Hops, s.Count, s.Depth = []int{2}, 1, 1 })
	var from []uint64
	q.flip = func(w *verbs.SendWR) { from = append(from, w.RemoteAddr) }
	play(l, q)
	require.Equal(t, []uint64{l.remote.pieceAddr(l.spec.slot(0), 0), l.remote.pieceAddr(l.spec.slot(1), 0)}, from)
}
