package credit

import "fmt"

// Options selects the variant of the algorithm.
type Options struct {
	// AsPrinted follows Algorithm 1 as the paper prints it, which loses credits.
	AsPrinted bool
}

// Ledger holds the credits of flows, which have numbers from 0 on. Its methods allocate nothing.
type Ledger struct {
	o          Options
	total      int
	flows      []account
	owes       [][]int // owes[i][j]: credits that flow i pays to flow j as its credits in use come back
	unassigned int     // credits of no flow, because none is active
	turn       int     // flow that gets the next remainder first
	active     int     // number of active flows

	need, shares []int // by flow: credits that it lacks, and its part of the latest division
}

// account is the state of a flow.
type account struct {
	active  bool
	balance int
	inUse   int
}

// New returns a ledger of total credits for flows 0 to flows-1, all inactive. It panics if a number is
// negative.
func New(total, flows int, o Options) *Ledger {
	if total < 0 || flows < 0 {
		panic(fmt.Sprintf("credit: %d credits for %d flows", total, flows))
	}
	l := &Ledger{o: o, total: total, flows: make([]account, flows), owes: make([][]int, flows), unassigned: total,
		need: make([]int, flows), shares: make([]int, flows)}
	for i := range l.owes {
		l.owes[i] = make([]int, flows)
	}
	return l
}

// Total returns the number of all credits.
func (l *Ledger) Total() int { return l.total }

// Balance returns the credits that a flow may take.
func (l *Ledger) Balance(flow int) int { return l.flows[flow].balance }

// InUse returns the credits of a flow that its unprocessed packets hold.
func (l *Ledger) InUse(flow int) int { return l.flows[flow].inUse }

// Active reports whether a flow has a share of the credits.
func (l *Ledger) Active(flow int) bool { return l.flows[flow].active }

// Flows returns the number of active flows.
func (l *Ledger) Flows() int { return l.active }

// Owed returns what a flow owes to all others.
func (l *Ledger) Owed(flow int) (n int) {
	for _, o := range l.owes[flow] {
		n += o
	}
	return n
}

// Entitled returns the credits that a flow will have once all debts are paid: its balance, its credits in use less its
// debts, and its claims on others.
func (l *Ledger) Entitled(flow int) int {
	n := l.flows[flow].balance + l.flows[flow].inUse - l.Owed(flow)
	for i := range l.owes {
		n += l.owes[i][flow]
	}
	return n
}

// Take takes n credits for packets of a flow. It reports false, and takes none, if the balance does not hold them.
func (l *Ledger) Take(flow, n int) bool {
	a := &l.flows[flow]
	if n < 0 || n > a.balance {
		return false
	}
	a.balance -= n
	a.inUse += n
	return true
}

// Release gives back n credits of processed packets (Algorithm 1, lines 17 to 25): first to the flow's creditors, in
// equal shares, then to its own balance. It panics if the flow has fewer in use.
func (l *Ledger) Release(flow, n int) {
	a := &l.flows[flow]
	if n < 0 || n > a.inUse {
		panic(fmt.Sprintf("credit: flow %d gives back %d credits of the %d that it has in use", flow, n, a.inUse))
	}
	a.inUse -= n
	if l.o.AsPrinted {
		n -= l.payAsPrinted(flow, n)
	} else {
		n -= l.divide(n, l.owes[flow])
		for j, s := range l.shares {
			l.owes[flow][j] -= s
			l.add(j, s)
		}
	}
	if a.active {
		l.add(flow, n)
	} else {
		l.unassigned += n
	}
}

// add changes the balance of a flow.
func (l *Ledger) add(flow, by int) { l.flows[flow].balance += by }

// divide divides n credits among the flows into l.shares: equal parts, each at most the flow's limit, remainders in
// turn. It returns their sum, which is below n if the sum of the limits is.
func (l *Ledger) divide(n int, limits []int) (sum int) {
	clear(l.shares)
	for {
		open := 0
		for j, s := range l.shares {
			if s < limits[j] {
				open++
			}
		}
		if open == 0 || sum == n {
			return sum
		}
		each := (n - sum) / open
		for k := 0; k < len(limits) && sum < n; k++ {
			j := (l.turn + k) % len(limits)
			more := min(max(each, 1), max(limits[j]-l.shares[j], 0))
			l.shares[j] += more
			sum += more
			if each == 0 && more > 0 && sum == n {
				l.turn = (j + 1) % len(limits)
			}
		}
	}
}

// Lost returns the credits that no flow has and that are not unassigned either: Algorithm 1 as printed loses some.
func (l *Ledger) Lost() int {
	n := l.total - l.unassigned
	for i := range l.flows {
		n -= l.flows[i].balance + l.flows[i].inUse
	}
	return n
}

// Check returns an error if an invariant of the package does not hold.
func (l *Ledger) Check() error {
	sum := l.unassigned
	for i := range l.flows {
		a := &l.flows[i]
		sum += a.balance + a.inUse
		if a.balance < 0 {
			return fmt.Errorf("credit: flow %d has a balance of %d credits: want 0 or more", i, a.balance)
		}
		if o := l.Owed(i); o > a.inUse {
			return fmt.Errorf("credit: flow %d owes %d credits: want at most the %d that it has in use", i, o, a.inUse)
		}
	}
	if sum != l.total {
		return fmt.Errorf("credit: balances, credits in use and %d unassigned ones sum to %d: want %d", l.unassigned,
			sum, l.total)
	}
	return nil
}
