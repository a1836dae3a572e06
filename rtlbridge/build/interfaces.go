package build

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var interfacedPort = regexp.MustCompile(
	`(?m)^%Error-UNSUPPORTED: ([^:\n]+):(\d+):(\d+): Unsupported: Interfaced port on top level module`)

// interfacePorts returns an error for each port of the top module that is a SystemVerilog interface: the
// verilated design has no pins for it.
func (b *builder) interfacePorts(out string) error {
	var errs []error
	for _, m := range interfacedPort.FindAllStringSubmatch(out, -1) {
		errs = append(errs, b.m.Errorf("top",
			"top: port %s of module %s (%s:%s) is a SystemVerilog interface, which has no pins at the top; put the "+
				"module into one whose ports are the interface's signals, and name that one",
			b.wordAt(m[1], m[2], m[3]), b.m.Top, m[1], m[2]))
	}
	return errors.Join(errs...)
}

// wordAt returns the word at a place of a source, as Verilator names it; empty if it cannot be read.
func (b *builder) wordAt(file, line, column string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(b.m.Dir(), file)
	}
	text, err := os.ReadFile(file)
	row, err1 := strconv.Atoi(line)
	col, err2 := strconv.Atoi(column)
	lines := strings.Split(string(text), "\n")
	if errors.Join(err, err1, err2) != nil || row < 1 || row > len(lines) || col < 1 || col > len(lines[row-1]) {
		return ""
	}
	return reWord.FindString(lines[row-1][col-1:])
}

var reWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*`)
