package plot

import (
	"fmt"
	"html"
	"slices"
	"unicode/utf8"

	"nictwin/scenarios/papers/study"
)

// Sizes in a table, in SVG user units.
const (
	cellW, cellH = 46, 18
	headH        = 190 // height of the counters' names, which are slanted
	charW        = 6.2 // average width of a character at font size 11
)

// Ledgers draws byte ledgers as a table with a row for each design and a column for each counter. Cells show bytes per
// byte of payload; larger numbers have darker cells. Counters that are zero in every design have no column.
func Ledgers(title string, list []study.Ledger) []byte {
	t := table{cells: map[[2]string]float64{}}
	for i := range list {
		t.add(&list[i])
	}
	nameW := 0.0
	for _, d := range t.designs {
		nameW = max(nameW, textWidth(d))
	}
	c := &canvas{width: int(nameW) + 20 + cellW*len(t.columns) + headH, height: top + headH + cellH*len(t.designs) + 20}
	c.head(title)
	for k, column := range t.columns {
		x := nameW + 20 + float64(cellW*k) + cellW/2
		c.printf(`<text transform="translate(%.1f %d) rotate(-50)" font-size="11">%s</text>`+"\n", x, top+headH-6,
			html.EscapeString(column))
	}
	for i, d := range t.designs {
		y := float64(top + headH + cellH*i)
		c.text(10, y+13, "start", 11, d)
		for k, column := range t.columns {
			if v, ok := t.cells[[2]string{d, column}]; ok {
				c.cell(nameW+20+float64(cellW*k), y, v, t.most, d+"; "+column)
			}
		}
	}
	c.printf("</svg>\n")
	return c.Bytes()
}

// table is the content of a drawn ledger.
type table struct {
	designs, columns []string
	cells            map[[2]string]float64
	most             float64
}

func (t *table) add(l *study.Ledger) {
	if l.Payload == 0 {
		return
	}
	t.designs = append(t.designs, l.Design)
	for _, r := range l.Rows {
		column := r.Where + ", " + r.What
		t.cells[[2]string{l.Design, column}] = r.PerByte
		t.most = max(t.most, r.PerByte)
		if r.Bytes > 0 && !slices.Contains(t.columns, column) {
			t.columns = append(t.columns, column)
		}
	}
}

// cell draws number v; the closer it is to `most`, the darker its background.
func (c *canvas) cell(x, y, v, most float64, title string) {
	light := 255 - int(150*v/most)
	c.printf(`<rect x="%.1f" y="%.1f" width="%d" height="%d" fill="#%02x%02xff" stroke="#dddddd">`+
		`<title>%s: %.4g</title></rect>`+"\n",
		x, y, cellW, cellH, light, light, html.EscapeString(title), v)
	text := fmt.Sprintf("%.2f", v)
	if v == 0 {
		text = "0"
	}
	c.text(x+cellW/2, y+13, "middle", 10, text)
}

func textWidth(s string) float64 { return charW * float64(utf8.RuneCountInString(s)) }
