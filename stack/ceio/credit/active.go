package credit

import (
	"fmt"
	"slices"
)

// Activate makes flows active at the same time. Each gets an equal share of all credits from the flows that were active
// before: of their balances, and as a debt where these do not suffice (Algorithm 1, lines 1 to 16). It panics if one of
// the flows is active.
func (l *Ledger) Activate(flows ...int) {
	old := l.active
	for _, f := range flows {
		if l.flows[f].active {
			panic(fmt.Sprintf("credit: flow %d is active already", f))
		}
		l.flows[f].active = true
	}
	l.active += len(flows)
	switch {
	case !l.o.AsPrinted:
		l.level()
	case old == 0:
		l.spread()
	default:
		l.giveAsPrinted(old, flows)
	}
}

// Deactivate makes a flow inactive: the active flows get its balance and its claims, and it owes them the credits that
// it has in use. It panics if the flow is not active.
func (l *Ledger) Deactivate(flow int) {
	a := &l.flows[flow]
	if !a.active {
		panic(fmt.Sprintf("credit: flow %d is not active", flow))
	}
	a.active = false
	l.active--
	if l.active > 0 && !l.o.AsPrinted {
		l.level()
		return
	}
	for i := range l.owes {
		l.owes[i][flow] = 0
	}
	clear(l.owes[flow])
	l.unassigned += a.balance
	l.add(flow, -a.balance)
	l.spread()
}

// Surplus sets most[i] to the credits that flow i gives from its balance at most, if flows become active (on) or one
// flow becomes inactive next. Packets that take credits before that do not change it.
func (l *Ledger) Surplus(most []int, on bool, flows ...int) {
	old := l.active
	set := func(active bool) {
		for _, f := range flows {
			l.flows[f].active = active
		}
	}
	clear(most)
	set(on)
	l.active += len(flows)
	if !on {
		l.active = old - len(flows)
	}
	for i := range most {
		switch {
		case l.o.AsPrinted && on:
			if old > 0 && l.flows[i].active && !slices.Contains(flows, i) {
				most[i] = min(l.flows[i].balance, len(flows)*(l.total/l.active/old))
			}
		case l.o.AsPrinted || l.active == 0:
			if !l.flows[i].active {
				most[i] = l.flows[i].balance
			}
		}
	}
	if !l.o.AsPrinted && l.active > 0 {
		l.target()
		for i, n := range l.need {
			most[i] = max(-n, 0)
		}
	}
	set(!on)
	l.active = old
}

// level makes the entitlements of the active flows equal, to within one credit, and those of the others 0: flows with
// more give to those with less.
func (l *Ledger) level() {
	if l.active == 0 {
		return
	}
	l.target()
	l.unassigned -= l.divide(l.unassigned, l.need)
	for j, s := range l.shares {
		l.need[j] -= s
		l.add(j, s)
	}
	for i := range l.flows {
		if n := -l.need[i]; n > 0 {
			l.need[i] = 0
			l.give(i, n)
		}
	}
}

// target sets need[i] to the credits that flow i lacks for an equal share; -need[i] is its surplus. The remainder of
// the division goes first to flows that hold an extra credit already, then to the others in turn.
func (l *Ledger) target() {
	each, rest := l.total/l.active, l.total%l.active
	for i := range l.flows {
		l.need[i] = -l.Entitled(i)
		if l.flows[i].active {
			l.need[i] += each
		}
	}
	for _, more := range []bool{true, false} {
		for k := range l.flows {
			i := (l.turn + k) % len(l.flows)
			if rest > 0 && l.flows[i].active && l.Entitled(i) > each == more {
				l.need[i]++
				rest--
			}
		}
	}
}

// give moves n credits of a flow to the flows that need some, in equal shares: first from its balance, then as debts,
// up to its credits in use, then by passing on its claims.
func (l *Ledger) give(flow, n int) {
	from := l.divide(min(n, l.flows[flow].balance), l.need)
	l.add(flow, -from)
	for j, s := range l.shares {
		l.need[j] -= s
		l.add(j, s)
	}
	n -= from
	debt := l.divide(min(n, l.flows[flow].inUse-l.Owed(flow)), l.need)
	for j, s := range l.shares {
		l.need[j] -= s
		l.owes[flow][j] += s
	}
	n -= debt
	for k := range l.owes {
		o := l.owes[k]
		passed := l.divide(min(n, o[flow]), l.need)
		o[flow] -= passed
		n -= passed
		for j, s := range l.shares {
			l.need[j] -= s
			if j != k { // a flow owes nothing to itself
				o[j] += s
			}
		}
	}
}
