package credit

import "slices"

// spread divides the unassigned credits among the active flows.
func (l *Ledger) spread() {
	for i := range l.flows {
		l.need[i] = 0
		if l.flows[i].active {
			l.need[i] = l.unassigned
		}
	}
	l.unassigned -= l.divide(l.unassigned, l.need)
	for j, s := range l.shares {
		l.add(j, s)
	}
}

// giveAsPrinted follows lines 1 to 16 of Algorithm 1 as printed, in whole credits: n flows were active before the new
// ones. Line 13 subtracts c_i/m from c_i once for each new flow, so that each of them gets less than the one before.
func (l *Ledger) giveAsPrinted(n int, flows []int) {
	m := len(flows)
	c := l.total / (n + m)
	for i := range l.flows {
		if !l.flows[i].active || slices.Contains(flows, i) {
			continue
		}
		enough := l.flows[i].balance >= m*c/n
		for _, j := range flows {
			gift := c / n
			if !enough {
				gift = l.flows[i].balance / m
				l.owes[i][j] = c/n - gift
			}
			l.add(i, -gift)
			l.add(j, gift)
		}
	}
}

// payAsPrinted follows lines 17 to 25 of Algorithm 1 as printed: it subtracts max(o, n/m) from the released credits for
// each of the m creditors, and adds nothing to the creditors' balances. It returns the subtracted credits.
func (l *Ledger) payAsPrinted(flow, n int) (paid int) {
	m := 0
	for _, o := range l.owes[flow] {
		if o > 0 {
			m++
		}
	}
	for j, o := range l.owes[flow] {
		if o > 0 {
			paid += max(o, n/m)
			l.owes[flow][j] = 0
		}
	}
	return paid
}
