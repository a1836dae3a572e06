package edges

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Fault is a process that waits for falling edges of a clock.
type Fault struct {
	Clock int    // index in the list of clocks
	Place string // file and line; "" if it is not known
}

// analysis follows clocks through a design.
type analysis struct {
	*design
	signals map[string]phase
	drivers map[string][]driver
	fixed   map[string]bool // signals that are clocks
}

// driver is an assignment to a signal.
type driver struct {
	value      *node   // nil: a register
	conditions []*node // under which it happens
}

// Find reads a description, and returns the processes that wait for falling edges of these clocks, ports of the design,
// in the order of clocks and places.
func Find(r io.Reader, signals []string) ([]Fault, error) {
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	a := &analysis{design: d, signals: map[string]phase{}, drivers: map[string][]driver{}, fixed: map[string]bool{}}
	if len(signals) > 64 {
		return nil, fmt.Errorf("%d clocks: want 64 at most", len(signals))
	}
	known := map[string]bool{}
	d.scope.each("varscope", func(n *node) { known[n.attr["name"]] = true })
	for i, n := range signals {
		if !known[n] {
			return nil, fmt.Errorf("the description has no clock %s", n)
		}
		a.signals[n] = phase{up: 1 << i, zero: 1 << i}
		a.fixed[n] = true
	}
	for _, n := range d.scope.children {
		a.collect(n)
	}
	a.settle()
	found := map[Fault]bool{}
	d.scope.each("always", func(n *node) { a.check(n, len(signals), found) })
	return slices.SortedFunc(maps.Keys(found), func(x, y Fault) int {
		return cmp.Or(x.Clock-y.Clock, strings.Compare(x.Place, y.Place))
	}), nil
}

// collect adds the drivers in a scope.
func (a *analysis) collect(n *node) {
	switch n.kind {
	case "scope", "begin":
		for _, c := range n.children {
			a.collect(c)
		}
	case "assignalias", "contassign", "assign":
		a.assigned(n, nil, false)
	case "always":
		_, edges := waits(n)
		for _, c := range n.children {
			a.statement(c, nil, edges)
		}
	}
}

// waits returns the events that a process waits for, and reports whether they are edges rather than changes.
func waits(always *node) (items []*node, edges bool) {
	always.each("senitem", func(n *node) {
		items = append(items, n)
		edges = edges || n.attr["edgeType"] != "CHANGED"
	})
	return items, edges
}

// statement adds the drivers in a statement of a process.
func (a *analysis) statement(n *node, conditions []*node, register bool) {
	switch n.kind {
	case "assign", "assigndly":
		a.assigned(n, conditions, register)
		return
	case "sentree":
		return
	}
	inner := slices.Clone(conditions)
	for _, c := range n.children {
		if !assigns(c) {
			inner = append(inner, c)
		}
	}
	for _, c := range n.children {
		if assigns(c) {
			a.statement(c, inner, register)
		}
	}
}

// assigns reports whether there is an assignment in a statement.
func assigns(n *node) bool {
	return n.kind == "assign" || n.kind == "assigndly" || slices.ContainsFunc(n.children, assigns)
}

// assigned adds the drivers of an assignment, whose children are the value and the signals that get it.
func (a *analysis) assigned(n *node, conditions []*node, register bool) {
	if len(n.children) < 2 {
		return
	}
	d := driver{n.children[0], conditions}
	if register {
		d = driver{}
	}
	for name := range names(n.children[len(n.children)-1]) {
		if !a.fixed[name] {
			a.drivers[name] = append(a.drivers[name], d)
		}
	}
}

// names returns the signals in an expression.
func names(n *node) map[string]bool {
	all := map[string]bool{}
	if n.kind == "varref" {
		all[n.attr["name"]] = true
	}
	n.each("varref", func(v *node) { all[v.attr["name"]] = true })
	return all
}

// settle computes the phases of all signals: the smallest ones that agree with all drivers.
func (a *analysis) settle() {
	least := phase{zero: ^clocks(0), one: ^clocks(0)}
	for name := range a.drivers {
		a.signals[name] = least
	}
	for changed := true; changed; {
		changed = false
		for name, list := range a.drivers {
			p := least
			for _, d := range list {
				p = p.either(a.driven(d))
			}
			if p != a.signals[name] {
				a.signals[name], changed = p, true
			}
		}
	}
}

// driven returns the phase that a driver gives. What happens under a condition leaves an older value otherwise.
func (a *analysis) driven(d driver) phase {
	if d.value == nil {
		return phase{}
	}
	p := a.phaseOf(d.value)
	if len(d.conditions) > 0 {
		p = p.chosen(a.moves(d.conditions))
		p.zero, p.one = 0, 0
	}
	return p
}

// check adds the faults of a process.
func (a *analysis) check(always *node, n int, found map[Fault]bool) {
	items, _ := waits(always)
	for _, item := range items {
		var bad clocks
		p := phase{}
		for _, c := range item.children {
			p = p.either(a.phaseOf(c))
		}
		switch item.attr["edgeType"] {
		case "POS":
			bad = p.down
		case "NEG":
			bad = p.up
		case "CHANGED":
			if !logic(always, items) {
				bad = p.up | p.down
			}
		case "BOTH":
			bad = p.up | p.down
		default:
			bad = ^clocks(0)
		}
		for k := range n {
			if bad>>k&1 != 0 {
				found[Fault{k, a.place(item)}] = true
			}
		}
	}
}

// logic reports whether a process that waits for changes is logic or a latch: it waits for all that it reads, and reads
// nothing that it writes.
func logic(always *node, items []*node) bool {
	waited, read, written := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, item := range items {
		maps.Copy(waited, names(item))
	}
	for _, c := range always.children {
		if c.kind != "sentree" {
			uses(c, read, written)
		}
	}
	for name := range read {
		if !waited[name] || written[name] {
			return false
		}
	}
	return true
}

// uses adds the signals that a statement reads and writes.
func uses(n *node, read, written map[string]bool) {
	switch {
	case n.kind == "varref":
		read[n.attr["name"]] = true
	case (n.kind == "assign" || n.kind == "assigndly") && len(n.children) > 1:
		last := len(n.children) - 1
		for _, c := range n.children[:last] {
			uses(c, read, written)
		}
		maps.Copy(written, names(n.children[last]))
	default:
		for _, c := range n.children {
			uses(c, read, written)
		}
	}
}
