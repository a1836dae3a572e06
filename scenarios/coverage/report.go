package coverage

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Share counts sites and how many of them were hit. Excluded sites are in neither Hit nor Total.
type Share struct {
	Hit      int `json:"hit"`
	Total    int `json:"total"`
	Excluded int `json:"excluded"`
}

// Percent returns the sites that were hit, in percent of Total.
func (s Share) Percent() float64 {
	if s.Total == 0 {
		return 100
	}
	return 100 * float64(s.Hit) / float64(s.Total)
}

// WithAll returns the share of all sites, including excluded ones.
func (s Share) WithAll() float64 {
	return Share{Hit: s.Hit, Total: s.Total + s.Excluded}.Percent()
}

func (s *Share) add(x *Site) {
	switch {
	case x.Why != "":
		s.Excluded++
	case x.Hit:
		s.Hit++
		s.Total++
	default:
		s.Total++
	}
}

// Module is the coverage of a module.
type Module struct {
	Name    string   `json:"name"`
	Lines   Share    `json:"lines"`
	Toggles Share    `json:"toggles"`
	Holes   []string `json:"holes,omitempty"` // file:line and what was missed there
}

// Report is the coverage of a design.
type Report struct {
	Lines      Share       `json:"lines"`
	Toggles    Share       `json:"toggles"`
	Modules    []*Module   `json:"modules"`
	Exclusions []Exclusion `json:"-"`
}

// NewReport counts the sites by module.
func NewReport(sites []*Site, list []*Exclusion) *Report {
	r := &Report{}
	for _, x := range list {
		r.Exclusions = append(r.Exclusions, *x)
	}
	var m *Module
	var open hole
	for _, s := range sites {
		if m == nil || m.Name != s.Module {
			m.close(&open)
			m = &Module{Name: s.Module}
			r.Modules = append(r.Modules, m)
		}
		if s.Toggle {
			m.Toggles.add(s)
			r.Toggles.add(s)
		} else {
			m.Lines.add(s)
			r.Lines.add(s)
		}
		if !s.Hit && s.Why == "" && !open.grow(s) {
			m.close(&open)
			open = newHole(s)
		}
	}
	m.close(&open)
	return r
}

// hole is a group of neighbouring missed sites: bits of one signal.
type hole struct {
	first  *Site
	base   string
	lo, hi int
}

func newHole(s *Site) hole {
	h := hole{first: s}
	if m := bits.FindStringSubmatch(s.What); s.Toggle && m != nil {
		h.base, h.lo = m[1], number(m[2])
		h.hi = h.lo
	}
	return h
}

func (h *hole) grow(s *Site) bool {
	m := bits.FindStringSubmatch(s.What)
	if h.first == nil || h.base == "" || m == nil || !s.Toggle || s.Module != h.first.Module || m[1] != h.base ||
		s.Line != h.first.Line || number(m[2]) != h.hi+1 {
		return false
	}
	h.hi++
	return true
}

// close appends a finished hole to the module.
func (m *Module) close(h *hole) {
	if h.first == nil {
		return
	}
	what := h.first.What
	if h.hi > h.lo {
		what = fmt.Sprintf("%s[%d:%d]", h.base, h.hi, h.lo)
	}
	m.Holes = append(m.Holes, fmt.Sprintf("%s.sv:%d: %s", h.first.Module, h.first.Line, what))
	*h = hole{}
}

// String formats the site as file, line and name, as the list of holes shows it.
func (s *Site) String() string { return fmt.Sprintf("%s.sv:%d: %s", s.Module, s.Line, s.What) }

// Write writes the report as text, with at most the given number of holes per module.
func (r *Report) Write(w io.Writer, holes int) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "module\tlines\tof\t%%\tbits\tof\t%%\texcluded\t\n")
	row := func(name string, l, g Share) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%d\t%d\t%.1f\t%d\t\n", name, l.Hit, l.Total, l.Percent(), g.Hit, g.Total,
			g.Percent(), l.Excluded+g.Excluded)
	}
	for _, m := range r.Modules {
		row(m.Name, m.Lines, m.Toggles)
	}
	row("all", r.Lines, r.Toggles)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "with what is excluded: lines %.1f%%, bits %.1f%%\n", r.Lines.WithAll(), r.Toggles.WithAll())
	for _, m := range r.Modules {
		for i, h := range m.Holes {
			if i == holes {
				if holes > 0 {
					fmt.Fprintf(&b, "  and %d more in %s\n", len(m.Holes)-i, m.Name)
				}
				break
			}
			fmt.Fprintf(&b, "  not hit: %s\n", h)
		}
	}
	for i := range r.Exclusions {
		x := &r.Exclusions[i]
		fmt.Fprintf(&b, "  excluded: %v (%d): %s\n", x, x.sites, x.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
