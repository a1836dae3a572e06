package rtlbridge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ownFlags are Verilator's options, without dashes, that a manifest may not give, by who says instead what they would say.
// Some of them it would take without a word, and lose what it was to write, or compile something else than was linted.
var ownFlags = []struct {
	options string
	instead string
}{
	{"binary build cc dpi-hdr-only E exe generate-key get-supported getenv help hierarchical hierarchical-block hierarchical-child " +
		"l2-name lib-create lint-only main Mdir MMD no-MMD mod-prefix no-verilate o P prefix protect-ids protect-key protect-lib " +
		"sc V version waiver-output xml-only xml-output", "nictwin says what is made of the design, and where it goes"},
	{"build-dep-bin build-jobs CFLAGS j LDFLAGS make MAKEFLAGS prof-c prof-pgo", "nictwin compiles and links by itself"},
	{"pins-bv pins-sc-biguint pins-sc-uint pins-uint8 pins64 no-pins64 savable threads threads-dpi timing vpi",
		"the harness decides how the design is called: by one thread, at each edge of the clock"},
	{"coverage coverage-line coverage-toggle coverage-user prof-cfuncs prof-exec trace trace-coverage trace-fst trace-threads",
		"that is a matter of the variant of a build (--variant waves, coverage)"},
	{"F f FI", "files stand in sources"},
	{"top top-module", "the module stands in top"},
	{"gdb gdbbt pipe-filter rr", "nictwin runs Verilator by itself"},
}

var (
	withValue = regexp.MustCompile(`^-+[A-Za-z][A-Za-z0-9-]*\s`)
	noVerilog = regexp.MustCompile(`\.(c|cc|cpp|cxx|o|a|so)$`)
)

func (m *Manifest) checkFlags(add func(string, string, ...any)) {
	for i, f := range m.VerilatorFlags {
		at := fmt.Sprintf("verilator_flags[%d]", i)
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case withValue.MatchString(f):
			add(at, "verilator_flags: %q is an option and its value: give them as two entries", f)
		case !strings.HasPrefix(f, "-") && noVerilog.MatchString(f):
			add(at, "verilator_flags: %s: only the design's own sources are compiled, and they stand in sources", f)
		case strings.HasPrefix(f, "-"):
			for _, own := range ownFlags {
				if slices.Contains(strings.Fields(own.options), name) {
					add(at, "verilator_flags: %s is not for a manifest: %s", f, own.instead)
				}
			}
		}
	}
}
