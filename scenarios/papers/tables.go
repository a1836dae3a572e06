package papers

import (
	"fmt"
	"slices"

	"nictwin/scenarios/observe/chart"
	"nictwin/scenarios/papers/study"
)

// table is a table on a page: rows and columns with names.
type table struct {
	Corner  string
	Columns []string
	Rows    []row
}

type row struct {
	Name  string
	Cells []cell
}

// cell is a number in a table; the larger it is within the table, the higher its shade, 0 to 9.
type cell struct {
	Text  string
	Shade int
}

// pointsOf returns the points of a series, with a column for each system.
func pointsOf(s *study.Series) table {
	axis := chart.Axis{Name: s.Axes[0].Name, Unit: s.Axes[0].Unit, Log: s.Axes[0].Log}
	t := table{Corner: axis.Label()}
	at := placeNames(s, &axis)
	for i := range s.Points {
		p := &s.Points[i]
		text := chart.Number(p.Value)
		if p.Half > 0 {
			text += fmt.Sprintf(" ± %.2g", p.Half)
		}
		name := p.Label
		if !s.Bars {
			name = at[p.At[0]]
		}
		t.set(name, p.System, cell{Text: text})
	}
	return t
}

// placeNames returns the positions of a series on its first axis as text, with all digits where two would be alike.
func placeNames(s *study.Series, axis *chart.Axis) map[float64]string {
	names, taken := map[float64]string{}, map[string]bool{}
	for i := range s.Points {
		if s.Bars {
			break
		}
		v := s.Points[i].At[0]
		if names[v] != "" {
			continue
		}
		text := axis.Tick(v)
		if taken[text] {
			text = fmt.Sprintf("%s (%v)", text, v)
		}
		names[v], taken[text] = text, true
	}
	return names
}

// set puts a cell into a row and a column, which it adds if they are new.
func (t *table) set(name, column string, c cell) {
	k := slices.Index(t.Columns, column)
	if k < 0 {
		k, t.Columns = len(t.Columns), append(t.Columns, column)
	}
	i := slices.IndexFunc(t.Rows, func(r row) bool { return r.Name == name })
	if i < 0 {
		i, t.Rows = len(t.Rows), append(t.Rows, row{Name: name})
	}
	r := &t.Rows[i]
	for len(r.Cells) <= k {
		r.Cells = append(r.Cells, cell{})
	}
	r.Cells[k] = c
}

// ledgerOf returns byte ledgers as bytes per byte of payload: a row for each design, a column for each counter that is
// not 0 in all of them. The highest shade is that of the largest number.
func ledgerOf(list []study.Ledger) table {
	t := table{Corner: "design"}
	most := 0.0
	used := map[string]bool{}
	for i := range list {
		for _, x := range list[i].Rows {
			most = max(most, x.PerByte)
			used[x.Where+", "+x.What] = used[x.Where+", "+x.What] || x.Bytes > 0
		}
	}
	const shades = 9
	for i := range list {
		l := &list[i]
		if l.Payload == 0 {
			continue // nothing to divide by
		}
		for _, x := range l.Rows {
			if name := x.Where + ", " + x.What; used[name] {
				text := fmt.Sprintf("%.2f", x.PerByte)
				if x.Bytes == 0 {
					text = "0"
				}
				t.set(l.Design, name, cell{text, int(shades * x.PerByte / max(most, 1e-9))})
			}
		}
	}
	return t
}
