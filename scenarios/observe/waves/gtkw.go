package waves

import (
	"fmt"
	"path/filepath"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/manifest"
)

// Mark is a labelled position in a waveform.
type Mark struct {
	Name  string
	Cycle uint64
}

// View describes what a viewer shows.
type View struct {
	Manifest *manifest.Manifest
	Ports    []manifest.PinPort
	FST      string
	Period   simcore.Ps // period of the first clock
	Marks    []Mark     // the viewer opens at the first one; at most 26
	Blocks   []Block    // instances to show after the streams
}

// Block is an instance of a module in the design.
type Block struct {
	Path    string   // path of the instance, such as TOP.nic_top.u_copy
	Signals []string // full names, with their paths
}

// BlocksOf returns the instances with these paths. Each gets the waveform's signals that lie directly in it, not those
// of instances inside it.
func BlocksOf(paths, signals []string) []Block {
	list := make([]Block, 0, len(paths))
	for _, p := range paths {
		b := Block{Path: p}
		for _, s := range signals {
			if name, ok := strings.CutPrefix(s, p+"."); ok && !strings.Contains(name, ".") {
				b.Signals = append(b.Signals, s)
			}
		}
		list = append(list, b)
	}
	return list
}

// Time returns the time of the first clock's rising edge in a cycle, from power-up.
func (v *View) Time(cycle uint64) simcore.Ps {
	resets := 0
	for _, r := range v.Manifest.Resets {
		resets = max(resets, r.Cycles)
	}
	t := simcore.Ps(uint64(resets)+cycle) * v.Period
	if len(v.Manifest.Clocks) == 1 {
		return t + v.Period/2
	}
	return t + v.Period
}

// Signals returns the names of all pins and signals that the view shows, spelled as in the waveform.
func (v *View) Signals() (list []string) {
	for _, g := range v.groups() {
		list = append(list, g.signals...)
	}
	return list
}

type group struct {
	title   string
	signals []string
}

// groups returns the groups of signals to show: clocks and resets, each stream, observed outputs, each block.
func (v *View) groups() []group {
	m := v.Manifest
	list := []group{{title: "clocks and resets"}}
	for _, c := range m.Clocks {
		list[0].add(v, c.Signal)
	}
	for _, r := range m.Resets {
		list[0].add(v, r.Signal)
	}
	shown := map[string]bool{}
	for i := range m.Streams {
		s := &m.Streams[i]
		g := group{title: fmt.Sprintf("%s (%s, %s)", s.Name, s.Kind, s.Dir)}
		for _, p := range s.Pins() {
			if !shown[p] {
				shown[p] = true
				g.add(v, p)
			}
		}
		list = append(list, g)
	}
	g := group{title: "observed"}
	for _, o := range m.Observe {
		g.add(v, o)
	}
	list = append(list, g)
	for _, b := range v.Blocks {
		list = append(list, group{title: b.Path, signals: b.Signals})
	}
	return list
}

// add adds a pin to the group if the design has it.
func (g *group) add(v *View, pin string) {
	for _, p := range v.Ports {
		if p.Name != pin || p.Array != "" {
			continue
		}
		name := "TOP." + pin
		if p.Width > 1 {
			name += fmt.Sprintf("[%d:0]", p.Width-1)
		}
		g.signals = append(g.signals, name)
	}
}

// Display flags of signals in a save file.
const (
	flagHex     = "@22"
	flagBit     = "@28"
	flagComment = "@200"
)

// maxMarks is the number of named markers in GTKWave.
const maxMarks = 26

// SaveFile returns the view as a save file of GTKWave.
func (v *View) SaveFile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[dumpfile] %q\n[timestart] %d\n", filepath.Base(v.FST), v.start())
	times := make([]int64, 1+maxMarks)
	for i := range times {
		times[i] = -1
	}
	for i, m := range v.Marks[:min(len(v.Marks), maxMarks)] {
		times[1+i] = int64(v.Time(m.Cycle))
	}
	times[0] = times[1]
	b.WriteString("*-14.000000")
	for _, t := range times {
		fmt.Fprintf(&b, " %d", t)
	}
	b.WriteString("\n")
	for i, m := range v.Marks[:min(len(v.Marks), maxMarks)] {
		fmt.Fprintf(&b, "[markername] %c%s\n", 'A'+i, m.Name)
	}
	for _, g := range v.groups() {
		if len(g.signals) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n-%s\n", flagComment, g.title)
		for _, s := range g.signals {
			flag := flagBit
			if strings.HasSuffix(s, "]") {
				flag = flagHex
			}
			fmt.Fprintf(&b, "%s\n%s\n", flag, s)
		}
	}
	return b.String()
}

// start returns the time at which the viewer's display begins: a little before the first mark.
func (v *View) start() int64 {
	if len(v.Marks) == 0 {
		return 0
	}
	return int64(max(0, v.Time(v.Marks[0].Cycle)-20*v.Period))
}
