package boards

import (
	"fmt"
	"strings"

	"nictwin/models/board"
)

// Text draws a board as text.
func Text(s *board.RackSpec) string {
	var b strings.Builder
	fmt.Fprintln(&b, title(s))
	for _, m := range machines(s) {
		fmt.Fprintf(&b, "\n%s\n", m.name)
		for i := range m.cards {
			m.cards[i].text(&b)
		}
	}
	return b.String()
}

func (d *drawing) text(b *strings.Builder) {
	fmt.Fprintf(b, "  %s\n", d.name)
	d.front.text(b, "    ")
	for i := range d.branches {
		head, rest := "├─", "│ "
		if i == len(d.branches)-1 {
			head, rest = "└─", "  "
		}
		fmt.Fprintf(b, "    %s %s\n", head, d.branches[i].name)
		d.branches[i].text(b, "    "+rest+" ")
	}
}

func (r *row) text(b *strings.Builder, indent string) {
	const width = 18
	for _, x := range r.boxes {
		pad := strings.Repeat(" ", max(1, width-len(x.title)-(len([]rune(indent))-4)))
		fmt.Fprintf(b, "%s%s%s%s\n", indent, x.title, pad, strings.Join(x.says, " · "))
	}
}
