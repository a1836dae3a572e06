package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"nictwin/scenarios/bed/judge"
)

// window is the number of crossings shown before the one at which a finding was made, and as many after it.
const window = 20

// Crossing is a line of events.jsonl, as far as a ladder shows it.
type Crossing struct {
	Kind  string `json:"kind"`
	NIC   string `json:"nic"`
	Port  int    `json:"port"`
	N     int    `json:"n"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Bytes int    `json:"bytes"`
	Queue *int   `json:"queue"`
	Text  string `json:"text"`
}

// Ladder is the crossings around a finding, for the page's script.
type Ladder struct {
	Rows  []int `json:"rows"`            // crossings, by their index in Log
	At    int   `json:"at"`              // the row at which the finding was made
	Frame int   `json:"frame"`           // the row of its frame; -1: none
	Gap   int   `json:"gap,omitempty"`   // crossings left out behind the first row
	Cycle int64 `json:"cycle,omitempty"` // of the finding
}

// Log is the crossings that the ladders of a page show, each once.
type Log struct {
	Crossings []Crossing
}

// view tracks the crossings around a finding while a file is read.
type view struct {
	*found
	index  int // number of the crossing at which the finding was made; -1: not yet known
	frame  int // number of the crossing of the finding's frame; -1: none
	ladder *Ladder
}

// events tracks the crossings of one NIC while a file is read.
type events struct {
	views  []*view            // sorted by cycle
	frames map[[2]int][]*view // views by port and ordinal of their frame
	next   int                // the first view whose crossing is still to come
	n      int                // crossings so far
	keep   int                // last crossing that is shown
	ring   [window]Crossing
	log    *Log
	at     map[int]int // index in the log, by crossing
}

// ladders reads the events of every finding that has a cycle, and returns the ladders by finding.
func ladders(list []*found, log *Log) (map[int]*Ladder, error) {
	byFile := map[string]map[string][]*view{} // by file and NIC
	var order []string
	for _, f := range list {
		if f.Cycle == nil {
			continue
		}
		path := f.Run.path(f.index, judge.EventsFile)
		if byFile[path] == nil {
			byFile[path] = map[string][]*view{}
			order = append(order, path)
		}
		byFile[path][f.NIC] = append(byFile[path][f.NIC], &view{found: f, index: -1, frame: -1})
	}
	all := map[int]*Ladder{}
	for _, path := range order {
		if err := readEvents(path, byFile[path], log); err != nil {
			return nil, &InputError{err}
		}
		for _, views := range byFile[path] {
			for _, v := range views {
				if v.ladder != nil {
					all[v.N] = v.ladder
				}
			}
		}
	}
	return all, nil
}

// InputError is an error of an artifact that cannot be read, or that no run leaves so.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// readEvents finds the crossings around findings in a file of events. views holds the findings, by their NIC.
func readEvents(path string, views map[string][]*view, log *Log) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // not every command leaves events
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // errors on closing do not matter: it was only read
	nics := map[string]*events{}
	for nic, list := range views {
		slices.SortStableFunc(list, func(a, b *view) int { return int(*a.Cycle - *b.Cycle) })
		e := &events{views: list, keep: -1, log: log, at: map[int]int{}, frames: map[[2]int][]*view{}}
		for _, v := range list {
			if f := v.Frame; f != nil && f.Dir == "rx" {
				at := [2]int{f.Port, f.Number}
				e.frames[at] = append(e.frames[at], v)
			}
		}
		nics[nic] = e
	}
	names := slices.Sorted(maps.Keys(nics))
	r := bufio.NewReaderSize(file, 1<<20)
	for line := 1; ; line++ {
		text, err := r.ReadSlice('\n')
		if err == io.EOF {
			break // a killed run leaves part of a line
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
		if err := takeLine(nics, names, text); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
	for _, name := range names {
		nics[name].end()
	}
	return nil
}

// takeLine passes a crossing to the findings about its NIC. names lists the NICs in order, so that equal artifacts give
// equal pages.
func takeLine(nics map[string]*events, names []string, text []byte) error {
	last, ok := number(text, `"last":`)
	if !ok {
		return errors.New(`no "last": want a line of events`)
	}
	for _, name := range names {
		e := nics[name]
		if name != "" && !bytes.Contains(text, []byte(`"nic":`+strconv.Quote(name))) {
			continue
		}
		if err := e.take(text, last); err != nil {
			return err
		}
	}
	return nil
}

// number returns the number that follows a key.
func number(text []byte, key string) (n int64, ok bool) {
	i := bytes.Index(text, []byte(key))
	if i < 0 {
		return 0, false
	}
	for _, c := range text[i+len(key):] {
		if c < '0' || c > '9' || n > 1<<58 {
			break
		}
		n, ok = 10*n+int64(c-'0'), true
	}
	return n, ok
}

// take takes a crossing. Most are far from any finding: those are not decoded.
func (e *events) take(text []byte, last int64) error {
	if e.next == len(e.views) && e.n > e.keep {
		return nil
	}
	var c Crossing
	if e.next < len(e.views) || e.n <= e.keep {
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
	}
	if c.Kind == "cut" {
		return nil
	}
	if c.Kind == "frame_in" {
		for _, v := range e.frames[[2]int{c.Port, c.N}] {
			v.frame = e.show(e.n, &c)
		}
	}
	for ; e.next < len(e.views) && *e.views[e.next].Cycle <= last; e.next++ {
		e.views[e.next].index = e.n
		for k := max(0, e.n-window); k < e.n; k++ {
			e.show(k, &e.ring[k%window])
		}
		e.keep = e.n + window
	}
	if e.n <= e.keep {
		e.show(e.n, &c)
	}
	e.ring[e.n%window] = c
	e.n++
	return nil
}

// show adds a crossing to the log, once, and returns its ordinal.
func (e *events) show(n int, c *Crossing) int {
	if _, there := e.at[n]; !there {
		e.at[n] = len(e.log.Crossings)
		e.log.Crossings = append(e.log.Crossings, *c)
	}
	return n
}

// end makes the ladders. A finding made after the last crossing, such as one about a lost frame, gets the last ones.
func (e *events) end() {
	for _, v := range e.views {
		if v.index < 0 {
			v.index = e.n - 1
			for k := max(0, e.n-window); k < e.n; k++ {
				e.show(k, &e.ring[k%window])
			}
		}
		if v.index < 0 {
			continue
		}
		l := &Ladder{Frame: -1, Cycle: *v.Cycle}
		from := max(0, v.index-window)
		if v.frame >= 0 && v.frame < from {
			l.Rows, l.Frame, l.Gap = []int{e.at[v.frame]}, 0, from-v.frame-1
		}
		for k := from; k <= min(v.index+window, e.n-1); k++ {
			if k == v.index {
				l.At = len(l.Rows)
			}
			if k == v.frame {
				l.Frame = len(l.Rows)
			}
			l.Rows = append(l.Rows, e.at[k])
		}
		v.ladder = l
	}
}
