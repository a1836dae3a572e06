package manager

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/ceio/ring"
)

// opened returns a world whose flows are open and have their credits.
func opened(t *testing.T, credits, flows int, change func(*Spec)) *world {
	t.Helper()
	w := newWorld(1, func(s *Spec) {
		s.Credits, s.Flows, s.Batch, s.Copies, s.Accounts = credits, flows, 1, 4, AccountsExclusive
		if change != nil {
			change(s)
		}
	})
	for i := range flows {
		require.NoError(t, w.m.Open(0, i))
	}
	w.effects()
	return w
}

// frames lets n frames of a flow arrive, and reports their completions.
func (w *world) frames(id, n int) {
	for range n {
		w.frame(id)
	}
	for way := range 2 {
		for w.flows[id].seen[way] < len(w.flows[id].rings[way]) {
			w.report(id, way)
		}
	}
}

// receiveAll hands over and processes everything that has arrived.
func (w *world) receiveAll(t *testing.T, id int) {
	t.Helper()
	for range 100 {
		got, err := w.m.AsyncRecv(w.now, id, 64, nil)
		require.NoError(t, err)
		for _, p := range got {
			fast, slow := 0, 1
			if p.Fast {
				fast, slow = 1, 0
			}
			w.m.Processed(w.now, id, fast, slow, 1)
		}
		for len(w.ended) > 0 {
			w.endCopy()
		}
	}
}

func TestSpec(t *testing.T) {
	s := Spec{Credits: -1, Flows: 65}
	require.EqualError(t, s.Validate(), `credits -1: want 0 to 16777215
flows 65: want 1 to 64
batch 0: want 1 to 16777215
inactive 0ps: want 1ps to 2305843.009213693951s
reactivate 0ps: want 1ps to 2305843.009213693951s
mark_period 0ps: want 1ps to 2305843.009213693951s
wait_limit 0ps: want 1ps to 2305843.009213693951s
fast_slots 0: want 1 to 32768
slow_slots 0: want 1 to 32768
landing 0: want 1 to 32768
copies 0: want 1 to 252
controller "": want nic or arm
accounts "": want shared or exclusive`)
	_, err := New(s, nil)
	require.ErrorContains(t, err, "ceio: credits -1")
	s = DefaultSpec()
	require.NoError(t, s.Validate())
	require.Equal(t, 3000, s.Credits)

	s.Flows = 16
	for n, want := range map[int]int{0: 0, 15: 15, 16: 16, 1000: 16} {
		f, err := s.Place(n)
		require.NoError(t, err)
		require.Equal(t, want, f)
	}
	s.Accounts = AccountsExclusive
	_, err = s.Place(16)
	require.EqualError(t, err, "ceio: connection 16: want 0 to 15 with accounts exclusive, or accounts shared")
}

func TestCallsThatAreWrong(t *testing.T) {
	w := opened(t, 8, 2, nil)
	require.EqualError(t, w.m.Open(0, 2), "ceio: flow 2: want 0 to 1")
	require.EqualError(t, w.m.Open(0, 1), "ceio: flow 1 is open already")
	require.NoError(t, w.m.Close(1))
	require.EqualError(t, w.m.Close(1), "ceio: flow 1 is not open")
	require.EqualError(t, w.m.PostRecv(0, 0, 3), "ceio: 3 host buffers lent: want 1 or more, and lend: true")
	_, _, err := w.m.Recv(0, 0, 17, nil)
	require.EqualError(t, err, "ceio: receiving 17 packets at once: want 1 to 16")
}

// TestWithoutCredits sends everything slow, and checks that all of it arrives.
func TestWithoutCredits(t *testing.T) {
	w := opened(t, 0, 2, nil)
	for range 20 {
		w.frames(0, 5)
		w.receiveAll(t, 0)
		w.effects()
		require.NoError(t, w.check())
	}
	require.Equal(t, []int{0, 100}, []int{len(w.flows[0].rings[0]), len(w.flows[0].rings[1])})
	require.Equal(t, Inactive == w.m.State(0), false)
	require.Zero(t, w.m.Stats().Resumes)
}

// TestTakeBesideDraws takes credits from an account that is drawn on before the take, between the take and the read,
// and after both.
func TestTakeBesideDraws(t *testing.T) {
	for before := range 5 {
		for between := range 5 {
			w := opened(t, 8, 2, nil) // flow 0 gives 4 of its 8 credits back to flow 1
			require.NoError(t, w.m.Close(1))
			w.effects()
			require.NoError(t, w.m.Open(0, 1))
			require.Len(t, w.late, 2)
			for range 2 * before {
				w.frame(0)
			}
			w.effect()
			for range 2 * between {
				w.frame(0)
			}
			require.NoError(t, w.check())
			w.effects()
			require.NoError(t, w.check())
			require.Equal(t, 4, w.m.ledger.Entitled(1))
			w.frames(0, 3)
			w.frames(1, 3)
			require.NoError(t, w.check(), "%d draws before, %d between", 2*before, 2*between)
			w.receiveAll(t, 0)
			w.receiveAll(t, 1)
			w.effects()
			require.NoError(t, w.check())
			require.Equal(t, []int{4, 4}, []int{w.m.ledger.Balance(0), w.m.ledger.Balance(1)})
		}
	}
}

// TestResumedWithoutCredits takes all credits from a flow whose resume no packet has shown yet: it must be resumed
// again, whether the account was latched before or after the read.
func TestResumedWithoutCredits(t *testing.T) {
	for _, latched := range []bool{false, true} {
		w := opened(t, 2, 2, nil)
		require.NoError(t, w.m.Close(1))
		w.effects()
		w.frames(0, 3)
		w.receiveAll(t, 0)
		require.Equal(t, Resuming, w.m.State(0))
		require.NoError(t, w.m.Close(0)) // takes all of them
		w.effect()                       // the resume
		w.effect()                       // the take
		if latched {
			w.frame(0)
		}
		w.effects()
		w.frames(0, 2)
		require.Equal(t, 1, len(w.late)+1)
		require.NoError(t, w.check())
		require.NoError(t, w.m.Open(0, 0))
		w.effects()
		w.receiveAll(t, 0)
		w.effects()
		require.Equal(t, Resuming, w.m.State(0), "latched before the read: %v", latched)
		w.frames(0, 1)
		require.Equal(t, Fast, w.m.State(0))
		require.NoError(t, w.check())
		require.Zero(t, w.m.Stats().Late)
	}
}

// TestWrongNICs checks that the manager names what a NIC does against the rules of accounts.
func TestWrongNICs(t *testing.T) {
	for _, x := range []struct {
		name, err string
		play      func(w *world)
	}{
		{"fast without credit", "ceio: flow 0 got packet 4 in its fast ring without a credit [A2]", func(w *world) {
			w.frames(0, 4)
			w.m.FastArrived(0, 0, 4)
		}},
		{"no latch", "ceio: flow 0: packet 5 came fast behind a slow one, and the account was not resumed [A2]",
			func(w *world) {
				w.frames(0, 5)
				w.m.Processed(0, 0, 0, 0, 0)
				got, err := w.m.AsyncRecv(0, 0, 4, nil)
				if err != nil || len(got) != 4 {
					panic("fast packets are missing")
				}
				w.m.Processed(0, 0, 4, 0, 4)
				w.m.FastArrived(0, 0, 5)
			}},
		{"number twice", "ceio: flow 0: packet 1 arrived again: packet 2 is next [A4]", func(w *world) {
			w.frames(0, 2)
			w.m.FastArrived(0, 0, 1)
		}},
		{"number left out", "ceio: flow 0: packet 0 is missing in both rings, which have packets 1 and 2 [A4]",
			func(w *world) {
				w.m.FastArrived(0, 0, 1)
				w.m.SlowArrived(0, 0, 2)
			}},
		{"number left out in the fast ring", "ceio: flow 0: packet 3 follows packet 1 in the fast ring, and the " +
			"account was not resumed between [A2][A4]", func(w *world) {
			w.frames(0, 2)
			w.m.FastArrived(0, 0, 3)
		}},
		{"number left out in the slow ring", "ceio: flow 0: packet 6 follows packet 4 in the slow ring, and the " +
			"account was not resumed between [A2][A4]", func(w *world) {
			w.frames(0, 5)
			w.m.SlowArrived(0, 0, 6)
		}},
		{"drew too much", "ceio: flow 0: its account has drawn 1 credits more than it had [A3]", func(w *world) {
			w.frames(0, 2)
			w.m.AccountRead(0, Account{Drawn: 5})
		}},
		{"copy", "ceio: flow 0: a copy ended, and none was under way", func(w *world) { w.m.CopyEnded(0, 0) }},
	} {
		w := opened(t, 4, 1, nil)
		x.play(w)
		require.EqualError(t, w.m.Err(), x.err, x.name)
		_, err := w.m.AsyncRecv(0, 0, 4, nil)
		require.EqualError(t, err, x.err, "the first error stays")
	}
}

// TestTimers checks that a silent flow gives up its credits, that the last active one does not, and that flows that
// send again get their shares one after the other, one in each period.
func TestTimers(t *testing.T) {
	w := opened(t, 12, 3, func(s *Spec) { s.Inactive, s.Reactivate = 1000, 5000 })
	balances := func() [3]int {
		w.effects()
		return [3]int{w.m.ledger.Balance(0), w.m.ledger.Balance(1), w.m.ledger.Balance(2)}
	}
	tick := func(now Ps) {
		w.now = now
		require.LessOrEqual(t, w.m.Deadline(), now)
		w.m.Tick(now)
		require.Greater(t, w.m.Deadline(), now)
		require.NoError(t, w.check())
	}
	require.Equal(t, [3]int{4, 4, 4}, balances())
	require.EqualValues(t, 1000, w.m.Deadline())
	w.now = 900
	w.frames(0, 1)
	w.receiveAll(t, 0)
	tick(1000)
	require.Equal(t, [3]int{12, 0, 0}, balances())
	require.Equal(t, []State{Fast, Inactive, Inactive}, []State{w.m.State(0), w.m.State(1), w.m.State(2)})
	tick(1900)
	require.Equal(t, [3]int{12, 0, 0}, balances(), "the last active flow keeps its credits")
	w.now = 4900
	for i := range 3 {
		w.frames(i, 1)
		w.receiveAll(t, i)
	}
	w.m.Tick(4900)
	tick(5000)
	require.Equal(t, [3]int{6, 6, 0}, balances(), "one flow a period")
	for i := range 2 {
		w.frames(i, 1)
		w.receiveAll(t, i)
	}
	w.now = 9900
	for i := range 2 {
		w.frames(i, 1)
		w.receiveAll(t, i)
	}
	tick(10_000)
	require.Equal(t, [3]int{4, 4, 4}, balances())
}

// TestBypass checks that a flow with large messages, whose fast packets wait for slow ones, gives up its share, and a
// flow that processes its packets does not.
func TestBypass(t *testing.T) {
	w := opened(t, 16, 2, nil)
	w.frames(0, 12)
	_, ok, err := w.m.Recv(0, 0, 12, nil)
	require.NoError(t, err)
	require.False(t, ok)
	w.effects()
	require.Equal(t, Inactive, w.m.State(0))
	require.Equal(t, 8, w.m.ledger.InUse(0))
	require.Equal(t, 16, w.m.ledger.Entitled(1), "it owes the credits in use")

	w.frames(1, 12)
	w.receiveAll(t, 1)
	w.effects()
	require.Equal(t, Resuming, w.m.State(1))
	require.NoError(t, w.check())
}

// TestBehindAStall checks that a flow keeps its share if its core comes back late: fast completions are taken in
// bursts, so that credits return before the packet is known that found none, and packets of a few messages are held.
func TestBehindAStall(t *testing.T) {
	w := opened(t, 16, 2, nil)
	for range 12 {
		w.frame(0)
	}
	burst := func() {
		for range 4 {
			w.report(0, 0)
		}
		for w.flows[0].seen[1] < len(w.flows[0].rings[1]) {
			w.report(0, 1)
		}
	}
	burst()
	got, err := w.m.AsyncRecv(w.now, 0, 4, nil)
	require.NoError(t, err)
	require.Len(t, got, 4)
	w.m.Processed(w.now, 0, 4, 0, 4)
	burst()
	for range 2 { // the second time, all fast packets in host memory are held
		_, err = w.m.AsyncRecv(w.now, 0, 8, nil)
		require.NoError(t, err)
	}
	w.effects()
	require.Equal(t, Draining, w.m.State(0))
	require.EqualValues(t, 1, w.m.Stats().Exhausted)
}

func TestNothingAllocates(t *testing.T) {
	w := opened(t, 8, 2, nil)
	dst := make([]ring.Packet, 0, 64)
	n := quiet{}
	w.m.nic = n
	seq := uint32(0)
	once := func() {
		w.now += 10
		for range 4 {
			w.m.FastArrived(w.now, 0, seq)
			seq++
		}
		dst, _, _ = w.m.Recv(w.now, 0, 4, dst[:0])
		w.m.Processed(w.now, 0, 4, 0, 4)
		w.m.Tick(w.now)
	}
	once()
	require.Zero(t, testing.AllocsPerRun(20, once))
	require.NoError(t, w.m.Err())
}

// quiet is a NIC that does nothing.
type quiet struct{}

func (quiet) AddCredit(int, int)    {}
func (quiet) TakeCredit(int, int)   {}
func (quiet) ReadAccount(int)       {}
func (quiet) Resume(int, int)       {}
func (quiet) Steer(int, bool)       {}
func (quiet) Copy(int, uint64, int) {}

func (quiet) Room(_, n int) int { return n }
