package emit

import (
	"fmt"
	"sort"

	"nictwin/models/nic/nicspec/schema"
)

// packed writes a packed structure of width bits: the highest field first, reserved bits as rsvd0,
// rsvd1... from the low end.
func (w *svFile) packed(ms []member, width int, typ, what string) {
	w.ids.declare(typ, what)
	ms = withGaps(ms, width)
	members := &ids{where: map[string]string{}}
	for _, m := range ms {
		members.declare(m.name, what+" member "+m.name)
	}
	w.ids.errs = append(w.ids.errs, members.errs...)
	w.pf("  typedef struct packed {\n")
	for i := len(ms) - 1; i >= 0; i-- {
		m := &ms[i]
		decl := "logic"
		switch {
		case m.enum != "":
			decl = schema.Snake(m.enum) + "_e"
		case m.width > 1:
			decl = fmt.Sprintf("logic [%d:0]", m.width-1)
		}
		if m.doc == "" {
			w.pf("    %s %s;\n", decl, m.name)
			continue
		}
		w.line("    ", fmt.Sprintf("%s %s;", decl, m.name), m.doc)
	}
	w.pf("  } %s;\n\n", typ)
}

// withGaps sorts the members by position and adds members for the reserved bits between them.
func withGaps(ms []member, width int) []member {
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].bit < ms[j].bit })
	var out []member
	next, gaps := 0, 0
	gap := func(to int) {
		if to > next {
			out = append(out, member{name: fmt.Sprintf("rsvd%d", gaps), bit: next, width: to - next})
			gaps++
		}
	}
	for _, m := range ms {
		gap(m.bit)
		out = append(out, m)
		next = m.bit + m.width
	}
	gap(width)
	return out
}
