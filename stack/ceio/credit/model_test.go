package credit

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is an event of the model check.
type step struct {
	what  string
	flows []int
	n     int
}

func (s step) String() string { return fmt.Sprintf("%s %v %d", s.what, s.flows, s.n) }

func (s step) play(l *Ledger) {
	switch s.what {
	case "activate":
		l.Activate(s.flows...)
	case "deactivate":
		l.Deactivate(s.flows[0])
	case "take":
		l.Take(s.flows[0], s.n)
	case "release":
		l.Release(s.flows[0], s.n)
	}
}

// steps returns every event that is possible: each set of inactive flows that become active together, each active flow
// that leaves, each number of credits that is taken or comes back.
func steps(l *Ledger) (list []step) {
	var idle []int
	for i := range l.flows {
		if !l.Active(i) {
			idle = append(idle, i)
		}
	}
	for set := 1; set < 1<<len(idle); set++ {
		var flows []int
		for k, f := range idle {
			if set>>k&1 == 1 {
				flows = append(flows, f)
			}
		}
		list = append(list, step{"activate", flows, 0})
	}
	for i := range l.flows {
		f := []int{i}
		if l.Active(i) {
			list = append(list, step{"deactivate", f, 0})
		}
		for n := 1; n <= l.Balance(i) && l.Active(i); n++ {
			list = append(list, step{"take", f, n})
		}
		for n := 1; n <= l.InUse(i); n++ {
			list = append(list, step{"release", f, n})
		}
	}
	return list
}

func (l *Ledger) copied() *Ledger {
	c := New(l.total, len(l.flows), l.o)
	copy(c.flows, l.flows)
	for i := range l.owes {
		copy(c.owes[i], l.owes[i])
	}
	c.unassigned, c.turn, c.active = l.unassigned, l.turn, l.active
	return c
}

func (l *Ledger) key() string { return fmt.Sprint(l.flows, l.owes, l.unassigned, l.turn) }

// explore plays every sequence of at most depth events on total credits and flows, each state once. It returns the
// number of states and the first sequence after which check fails.
func explore(total, flows, depth int, o Options, check func(*Ledger) error) (states int, trace []step, err error) {
	type node struct {
		l    *Ledger
		from int
		by   step
	}
	all := []node{{l: New(total, flows, o), from: -1}}
	seen := map[string]bool{all[0].l.key(): true}
	for begin, level := 0, 0; level < depth && begin < len(all); level++ {
		end := len(all)
		for i := begin; i < end; i++ {
			for _, s := range steps(all[i].l) {
				next := all[i].l.copied()
				s.play(next)
				if err := check(next); err != nil {
					for trace = []step{s}; all[i].from >= 0; i = all[i].from {
						trace = append([]step{all[i].by}, trace...)
					}
					return len(all), trace, err
				}
				if k := next.key(); !seen[k] {
					seen[k] = true
					all = append(all, node{next, i, s})
				}
			}
			all[i].l = nil
		}
		begin = end
	}
	return len(all), nil, nil
}

// fair returns an error if an invariant does not hold, or if entitlements differ by more than a credit.
func fair(l *Ledger) error {
	if err := l.Check(); err != nil {
		return err
	}
	for i := range l.flows {
		e := l.Entitled(i)
		switch {
		case !l.Active(i) && l.Flows() > 0 && e != 0:
			return fmt.Errorf("flow %d is inactive and has %d credits", i, e)
		case l.Active(i) && (e < l.total/l.active || e > (l.total+l.active-1)/l.active):
			return fmt.Errorf("flow %d has %d of %d credits beside %d flows", i, e, l.total, l.active)
		}
	}
	return nil
}

// TestEveryHistory plays every sequence of up to 8 events on 4 flows; how many credits there are decides how many
// states that makes.
func TestEveryHistory(t *testing.T) {
	for total := range 13 {
		depth := 8
		if total > 5 && os.Getenv("NICTWIN_LONG") == "" {
			depth = 5
		}
		states, trace, err := explore(total, 4, depth, Options{}, fair)
		require.NoError(t, err, "%d credits, after %v", total, trace)
		t.Logf("%d credits: %d states", total, states)
	}
}

// TestPrintedLoses finds the shortest history after which the printed algorithm has lost credits, and replays it.
func TestPrintedLoses(t *testing.T) {
	o := Options{AsPrinted: true}
	_, trace, err := explore(4, 2, 8, o, (*Ledger).Check)
	require.EqualError(t, err, "credit: balances, credits in use and 0 unassigned ones sum to 3: want 4")
	require.Equal(t, "[activate [0] 0 take [0] 3 activate [1] 0 release [0] 1]", fmt.Sprint(trace))
	l, right := New(4, 2, o), New(4, 2, Options{})
	for _, s := range trace {
		s.play(l)
		s.play(right)
	}
	require.Equal(t, []int{0, 1}, balances(l), "the credit that flow 0 owes is taken from it and never reaches flow 1")
	require.Equal(t, []int{0, 2}, balances(right))
}

func TestNothingAllocates(t *testing.T) {
	l := New(3000, 64, Options{})
	l.Activate(0, 1, 2)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		l.Take(0, l.Balance(0))
		l.Activate(3)
		l.Release(0, l.InUse(0))
		l.Deactivate(3)
	}))
}
