package build

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"nictwin/rtlbridge/build/toolchain"
)

var (
	insertMark = []byte("__vlCoverInsert(&(")
	insertCall = regexp.MustCompile(
		`__Vcoverage\[(\d+)\]\), first, "([^"]*)", (\d+), \d+, "[^"]*", "v_(\w+)/([^"]*)", "([^"]*)",`)
	lockedCount = []byte(".fetch_add(1, std::memory_order_relaxed);")
	plainCount  = []byte(".store(1 + %s.load(std::memory_order_relaxed), std::memory_order_relaxed);")
)

// takePoints moves the names of line points out of the verilated sources and returns the number of counters. It also
// writes the header that makes the waveform code count toggles.
func (b *builder) takePoints() (int, error) {
	const stand = "#include \"toggles.hpp\"\n"
	if err := os.WriteFile(filepath.Join(b.objDir(), waveHeader), []byte(stand), 0o644); err != nil {
		return 0, fmt.Errorf("coverage points: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(b.objDir(), "*.cpp"))
	if err != nil {
		return 0, fmt.Errorf("verilated sources: %w", err)
	}
	out, err := os.Create(filepath.Join(b.work, pointsFile))
	if err != nil {
		return 0, fmt.Errorf("coverage points: %w", err)
	}
	t := pointTaker{w: bufio.NewWriter(out), seen: map[string]bool{}}
	for _, f := range files {
		if err == nil {
			err = t.file(f)
		}
	}
	return t.counters, errors.Join(err, t.w.Flush(), out.Close())
}

// waveHeader is Verilator's VCD header, waveUnit its source file without the extension. A coverage build
// replaces the header with one that counts toggles, and does not compile the source.
const (
	waveHeader = waveUnit + ".h"
	waveUnit   = "verilated_vcd_c"
)

type pointTaker struct {
	w        *bufio.Writer
	seen     map[string]bool
	counters int
}

// file takes the code of the coverage points out of the text of a verilated source.
func (t *pointTaker) file(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("verilated source: %w", err)
	}
	var kept bytes.Buffer
	changed := false
	for line := range bytes.Lines(text) {
		switch {
		case bytes.Contains(line, insertMark):
			if err := t.point(line); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
			changed = true
		case bytes.Contains(line, lockedCount): // only one thread counts, so a plain increment will do
			name := bytes.TrimSpace(line[:bytes.Index(line, lockedCount)])
			kept.Write(bytes.Replace(line, lockedCount, bytes.Replace(plainCount, []byte("%s"), name, 1), 1))
			changed = true
		default:
			kept.Write(line)
		}
	}
	if !changed {
		return nil
	}
	return os.WriteFile(path, kept.Bytes(), 0o644)
}

// point records the point of a line, once for all instances that share its counter.
func (t *pointTaker) point(line []byte) error {
	m := insertCall.FindSubmatch(line)
	if m == nil {
		return fmt.Errorf("a coverage point in a form that is not known: %s", bytes.TrimSpace(line))
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return fmt.Errorf("a coverage point's number: %w", err)
	}
	t.counters = max(t.counters, n+1)
	text := string(bytes.Join(m[1:], []byte("\t"))) + "\t-1\t-1\n"
	if t.seen[text] {
		return nil
	}
	t.seen[text] = true
	_, err = t.w.WriteString(text)
	return err
}

// addSignals adds the signals that the built program counts to the points; the design's outline describes them.
// Clocks are left out: their changes carry no information.
func (b *builder) addSignals() error {
	o, err := b.describe()
	if err != nil {
		return err
	}
	list, err := toolchain.RunTool("listing the signals of "+b.m.Top, b.work, filepath.Join(b.work, "dut"), "--signals")
	if err != nil {
		return err
	}
	var signals []signal
	clocks := map[string]bool{} // clock signals, by counter
	for line := range strings.Lines(list) {
		s, err := o.signal(line)
		if err != nil {
			return fmt.Errorf("coverage of %s: %w", b.m.Top, err)
		}
		if s.decl == nil {
			continue
		}
		clocks[s.counter] = clocks[s.counter] || s.decl.clock
		signals = append(signals, s)
	}
	out, err := os.OpenFile(filepath.Join(b.work, pointsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("coverage points: %w", err)
	}
	w := bufio.NewWriter(out)
	for _, s := range signals {
		if !clocks[s.counter] {
			fmt.Fprintf(w, "%s\t%s\t%s\ttoggle\t%s\t%s\t%s\t%s\n", s.counter, s.decl.file, s.decl.line, s.module,
				s.name, s.msb, s.lsb)
		}
	}
	if err := errors.Join(w.Flush(), out.Close()); err != nil {
		return fmt.Errorf("coverage points: %w", err)
	}
	return nil
}
