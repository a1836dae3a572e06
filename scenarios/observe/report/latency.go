package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math/bits"
	"slices"
	"strings"

	"nictwin/scenarios/bed/judge"
)

// latency is the distribution of a latency on one kind of NIC.
type latency struct {
	Device string // model, rtl, …
	judge.Latency
}

// latenciesOf returns the latencies that a run measured, by path and device.
func latenciesOf(r *Run) (list []latency) {
	o := r.Object
	for _, l := range o.Latency {
		list = addLatencies(list, []latency{{o.NIC, l}})
	}
	for i := range o.Scenarios {
		for k := range o.Scenarios[i].NICs {
			n := &o.Scenarios[i].NICs[k]
			for _, l := range n.Latency {
				list = addLatencies(list, []latency{{n.Device, l}})
			}
		}
	}
	return list
}

// addLatencies adds distributions to those of the same path and device.
func addLatencies(list, more []latency) []latency {
	for _, m := range more {
		i := slices.IndexFunc(list, func(l latency) bool { return l.Path == m.Path && l.Device == m.Device })
		if i < 0 {
			i = len(list)
			list = append(list, latency{m.Device, judge.Latency{Path: m.Path}})
		}
		list[i].Add(&m.Latency)
	}
	slices.SortStableFunc(list, func(a, b latency) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), -strings.Compare(a.Device, b.Device))
	})
	return list
}

// Histogram is a picture of one latency on every NIC of a report, and its numbers.
type Histogram struct {
	Path   string
	Title  string
	Series []latency
	SVG    template.HTML
}

// titles says what is measured on each path.
var titles = map[string]string{
	"rx": "Receive: from a frame's last beat to the last beat of its completion entry",
	"tx": "Transmit: from the arrival of a work entry to the last beat of its frame",
}

// histograms draws the latencies of the runs.
func histograms(runs []*Run) (list []Histogram) {
	var all []latency
	for _, r := range runs {
		all = addLatencies(all, r.latency)
	}
	for _, path := range []string{"rx", "tx"} {
		h := Histogram{Path: path, Title: titles[path]}
		for _, l := range all {
			if l.Path == path {
				h.Series = append(h.Series, l)
			}
		}
		if len(h.Series) > 0 {
			h.draw()
			list = append(list, h)
		}
	}
	return list
}

// Sizes of a drawn histogram, in units of its SVG picture, and numbers of bars and ticks.
const (
	plotW, plotH      = 640, 180
	plotLeft, plotTop = 44, 8
	plotFoot          = 34
	maxBars           = 36
	wantedTicks       = 6
)

// draw draws the shares of frames by latency. Bars are of equal width on an axis that is nearly logarithmic.
func (h *Histogram) draw() {
	per := 8 // bars in each octave; halved while there are more than maxBars bars
	var from, to int
	for {
		from, to = h.span(per)
		if to-from < maxBars || per == 1 {
			break
		}
		per /= 2
	}
	n := to - from + 1
	shares, top := make([][]float64, len(h.Series)), 0.0
	for i := range h.Series {
		s := &h.Series[i]
		shares[i] = make([]float64, n)
		for _, b := range s.Bins {
			k := barOf(b.From, per) - from
			shares[i][k] += 100 * float64(b.Count) / float64(s.Count)
			top = max(top, shares[i][k])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s"><g class="axis">`, plotLeft+plotW+8,
		plotTop+plotH+plotFoot, template.HTMLEscapeString(h.says()))
	for k := range 3 {
		y := plotTop + plotH*(2-k)/2
		fmt.Fprintf(&b, `<path d="M%d %dh%d"/><text x="%d" y="%d" text-anchor="end">%.0f%%</text>`, plotLeft, y, plotW,
			plotLeft-6, y+4, top*float64(k)/2)
	}
	slot := float64(plotW) / float64(n)
	for k := 0; k < n; k += max(1, n/wantedTicks) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%d</text>`, plotLeft+slot*float64(k), plotTop+plotH+14,
			beginOf(from+k, per))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">cycles</text></g>`, plotLeft+plotW, plotTop+plotH+30)
	bar := slot * 0.86 / float64(len(h.Series))
	for i := range shares {
		fmt.Fprintf(&b, `<g class="s%d">`, i%4)
		for k, share := range shares[i] {
			if share > 0 {
				high := max(1, plotH*share/top)
				fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`,
					plotLeft+slot*(float64(k)+0.07)+bar*float64(i), plotTop+plotH-high, bar, high,
					template.HTMLEscapeString(fmt.Sprintf("%s: %.1f%% take %d to %d cycles", h.Series[i].Device, share,
						beginOf(from+k, per), beginOf(from+k+1, per)-1)))
			}
		}
		b.WriteString("</g>")
	}
	b.WriteString("</svg>")
	h.SVG = template.HTML(b.String()) // numbers, and texts escaped above
}

// says describes the picture for those who do not see it.
func (h *Histogram) says() string {
	var list []string
	for i := range h.Series {
		s := &h.Series[i]
		list = append(list, fmt.Sprintf("%s: median %d, 99%% within %d cycles", s.Device, s.Quantile(0.5),
			s.Quantile(0.99)))
	}
	return h.Title + "; " + strings.Join(list, "; ")
}

// span returns the first and last bar with frames.
func (h *Histogram) span(per int) (from, to int) {
	for i := range h.Series {
		bins := h.Series[i].Bins
		first, last := barOf(bins[0].From, per), barOf(bins[len(bins)-1].From, per)
		if i == 0 {
			from, to = first, last
		}
		from, to = min(from, first), max(to, last)
	}
	return from, to
}

// barOf returns the index of a latency's bar. Each octave has `per` bars; the first bars are one cycle wide.
func barOf(v int64, per int) int {
	shift := max(bits.Len64(uint64(v))-bits.Len(uint(per)), 0)
	return shift*per + int(v>>shift)
}

// beginOf returns the least latency in a bar.
func beginOf(bar, per int) int64 {
	shift := max(bar/per-1, 0)
	return int64(bar-shift*per) << shift
}
