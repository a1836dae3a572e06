package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// flagRule allows options of Verilator by name, with one dash or two. An option takes no value, or the next entry as
// its value.
type flagRule struct {
	names *regexp.Regexp // names of the options, without dashes
	shown string         // name as shown in messages
	value *regexp.Regexp // form of the value; nil: the option has none
	form  string         // description of the value
	path  bool           // the value is a file or a folder
	// rest checks the text that directly follows an option's name (NAME=VALUE in -DNAME=VALUE), and makes paths in it
	// absolute.
	rest func(text string, abs func(string) (string, error)) (string, error)
}

func names(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + expr + `)$`) }

var (
	reCount  = regexp.MustCompile(`^[0-9]{1,9}$`)
	anyPath  = regexp.MustCompile(`^[^-+]`)
	timeUnit = `(?:1|10|100)(?:s|ms|us|ns|ps|fs)`
)

// allowedFlags lists the options that a manifest may give: how the design is read, which warnings are
// given, and how much Verilator optimises. None runs a command, or changes what Verilator generates and
// where.
var allowedFlags = []flagRule{
	{names: names(`Wall|Wpedantic|W(?:no|warn|error|future)-[A-Za-z0-9_]+`),
		shown: "-Wall -Wpedantic -Wno-X -Wwarn-X -Werror-X -Wfuture-X"},
	{names: names(`(?:no-)?(?:assert|autoflush|bbox-sys|bbox-unsup|decoration|order-clock-delay|public-flat-rw|` +
		`relative-includes|report-unoptflat|stats|stats-vars|structs-packed|x-initial-edge|trace-params|` +
		`trace-underscore|coverage-underscore)|flatten|no-timing|sv`),
		shown: "--assert --autoflush --bbox-sys --bbox-unsup --flatten --no-timing --public-flat-rw " +
			"--relative-includes --report-unoptflat --stats --stats-vars --structs-packed -sv " +
			"--x-initial-edge --trace-params --trace-underscore --coverage-underscore (and --no-…)"},
	{names: names(`O[0-9a-zA-Z]|fno-[a-z][a-z-]*`), shown: "-O0 … -O3 -fno-X"},
	{names: names(`converge-limit|coverage-max-width|error-limit|expand-limit|gate-stmts|if-depth|inline-mult|` +
		`instr-count-dpi|max-num-width|output-split|output-split-cfuncs|output-split-ctrace|reloop-limit|` +
		`trace-depth|trace-max-array|trace-max-width|unroll-count|unroll-stmts`),
		shown: "--converge-limit --error-limit --expand-limit --if-depth --inline-mult --max-num-width " +
			"--output-split --unroll-count --unroll-stmts … (with a number)", value: reCount, form: "a number"},
	{names: names(`language|default-language`), shown: "--language --default-language",
		value: names(`1364-(?:1995|2001|2005)|1800-(?:2005|2009|2012|2017|2023)|1800\+VAMS`),
		form:  "a standard, such as 1800-2017"},
	{names: names(`timescale|timescale-override`), shown: "--timescale --timescale-override",
		value: names(timeUnit + `(?:/` + timeUnit + `)?|/` + timeUnit),
		form:  "a unit and a precision, such as 1ns/1ps"},
	{names: names(`x-assign`), shown: "--x-assign", value: names(`0|1|fast|unique`), form: "0, 1, fast or unique"},
	{names: names(`x-initial`), shown: "--x-initial", value: names(`0|fast|unique`), form: "0, fast or unique"},
	{names: names(`clk|no-clk`), shown: "--clk --no-clk", value: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`),
		form: "a signal"},
	{names: names(`unused-regexp`), shown: "--unused-regexp", value: regexp.MustCompile(`^[A-Za-z0-9_*?]+$`),
		form: "a name with * and ?"},
	{names: names(`y|v`), shown: "-y FOLDER -v FILE", value: anyPath, form: "a path", path: true},
	{names: regexp.MustCompile(`^D`), shown: "-DNAME=VALUE", rest: joined("", CheckMacroDef)},
	{names: regexp.MustCompile(`^U`), shown: "-UNAME", rest: joined("", checkName)},
	{names: regexp.MustCompile(`^G`), shown: "-GNAME=VALUE", rest: joined("", checkParameterDef)},
	{names: regexp.MustCompile(`^I`), shown: "-IFOLDER", rest: joinedPaths("")},
	{names: regexp.MustCompile(`^\+define\+`), shown: "+define+NAME=VALUE", rest: joined("+", CheckMacroDef)},
	{names: regexp.MustCompile(`^\+incdir\+`), shown: "+incdir+FOLDER", rest: joinedPaths("+")},
	{names: regexp.MustCompile(`^\+(?:libext|systemverilogext|verilog(?:1995|2001)ext|` +
		`1364-(?:1995|2001|2005)ext|1800-(?:2005|2009|2012|2017|2023)ext)\+`),
		shown: "+libext+.EXT +1800-2017ext+EXT …", rest: joined("+", checkExtension)},
	{names: names(`\+notimingchecks`), shown: "+notimingchecks"},
}

// ownFlags are Verilator's options, without dashes, that users are likely to try, each with the setting to use
// instead.
var ownFlags = []struct {
	options string
	instead string
}{
	{"binary build cc dpi-hdr-only E exe generate-key get-supported getenv help hierarchical hierarchical-block " +
		"hierarchical-child l2-name lib-create lint-only main Mdir MMD no-MMD mod-prefix no-verilate o P prefix " +
		"protect-ids protect-key protect-lib sc V version waiver-output xml-only xml-output",
		"nictwin decides what is generated from the design, and where"},
	{"build-dep-bin build-jobs CFLAGS j LDFLAGS make MAKEFLAGS prof-c prof-pgo",
		"nictwin runs compiler and linker"},
	{"pins-bv pins-sc-biguint pins-sc-uint pins-uint8 pins64 no-pins64 savable threads threads-dpi timing vpi",
		"the harness decides how the design is called: by one thread, at each edge of the clock"},
	{"coverage coverage-line coverage-toggle coverage-user prof-cfuncs prof-exec trace trace-coverage trace-fst " +
		"trace-structs trace-threads",
		"the build variant decides (--variant waves, coverage)"},
	{"F f FI", "list files in sources"},
	{"top top-module", "name the module in top"},
	{"gdb gdbbt pipe-filter rr", "nictwin decides how Verilator is run"},
}

// ParameterFlag sets a parameter of the top module.
const ParameterFlag = "-G"

var withValue = regexp.MustCompile(`^-+[A-Za-z][A-Za-z0-9-]*\s`)

// flagFault is the fault of the entry at index.
type flagFault struct {
	index int
	err   error
}

// TakeFlags checks options and returns them in the form that Verilator gets, with one dash and paths that abs
// made absolute.
func TakeFlags(flags []string, abs func(string) (string, error)) (args []string, faults []flagFault) {
	for i := 0; i < len(flags); i++ {
		at := i
		rule, head, rest, err := findFlag(flags[i])
		switch {
		case err != nil:
		case rule.rest != nil:
			if rest, err = rule.rest(rest, abs); err != nil {
				err = fmt.Errorf("%s: %w", flags[at], err)
			}
			args = append(args, joinedFlag(head, rest))
		case rule.value == nil:
			args = append(args, head)
		case i+1 == len(flags):
			err = fmt.Errorf("%s needs %s as the next entry", flags[i], rule.form)
		default:
			i++
			value := flags[i]
			if !rule.value.MatchString(value) {
				err = fmt.Errorf("%s: %q: needs %s", flags[at], value, rule.form)
			} else if rule.path {
				value, err = abs(value)
			}
			args = append(args, head, value)
		}
		if err != nil {
			faults = append(faults, flagFault{at, err})
		}
	}
	return args, faults
}

// joinedFlag returns an option with its joined text, in the form that Verilator gets.
func joinedFlag(head, rest string) string {
	if head == "-D" {
		return DefineArg(rest)
	}
	return head + rest
}

// findFlag returns the rule of an option, the option in the form that Verilator gets, and its joined text.
func findFlag(f string) (rule *flagRule, head, rest string, err error) {
	name, isDashed := strings.CutPrefix(f, "-")
	if isDashed {
		name = strings.TrimPrefix(name, "-")
	}
	for i := range allowedFlags {
		r := &allowedFlags[i]
		found := r.names.FindString(name)
		if found == "" || isDashed == strings.HasPrefix(name, "+") {
			continue
		}
		head := found
		if isDashed {
			head = "-" + found
		}
		return r, head, name[len(found):], nil
	}
	return nil, "", "", refusedFlag(f, name)
}

// refusedFlag returns why a manifest may not give an entry.
func refusedFlag(f, name string) error {
	option, _, _ := strings.Cut(name, "=")
	switch {
	case withValue.MatchString(f):
		return fmt.Errorf("%q is an option and its value: give them as two entries", f)
	case CheckSource(f) != nil && !strings.HasPrefix(f, "-"):
		return fmt.Errorf("%s: only the design's own sources are compiled: list them in sources", f)
	case !strings.HasPrefix(f, "-") && !strings.HasPrefix(f, "+"):
		return fmt.Errorf("%q: this field takes only options, each followed by its value; list the design's own files "+
			"in sources", f)
	}
	for _, own := range ownFlags {
		if slices.Contains(strings.Fields(own.options), option) {
			return fmt.Errorf("%s is not for a manifest: %s", f, own.instead)
		}
	}
	return fmt.Errorf("%q is not for a manifest; allowed are %s", f, shownFlags())
}

func shownFlags() string {
	var shown []string
	for _, r := range allowedFlags {
		shown = append(shown, r.shown)
	}
	return strings.Join(shown, ", ")
}

// joined checks each part of the text joined to an option. Without a separator there is one part.
func joined(separator string, check func(string) error) func(string, func(string) (string, error)) (string, error) {
	return func(text string, _ func(string) (string, error)) (string, error) {
		parts := []string{text}
		if separator != "" {
			parts = strings.Split(text, separator)
		}
		var errs []error
		for _, p := range parts {
			errs = append(errs, check(p))
		}
		return text, errors.Join(errs...)
	}
}

// joinedPaths returns a function for flagRule.rest: the text that directly follows an option's name is a folder or,
// unless the separator is empty, several folders with separators between them; the function makes them absolute.
func joinedPaths(separator string) func(string, func(string) (string, error)) (string, error) {
	return func(text string, abs func(string) (string, error)) (string, error) {
		parts := []string{text}
		if separator != "" {
			parts = strings.Split(text, separator)
		}
		var errs []error
		for i, p := range parts {
			var err error
			parts[i], err = abs(p)
			errs = append(errs, err)
		}
		return strings.Join(parts, separator), errors.Join(errs...)
	}
}

func checkName(name string) error {
	if !reSignal.MatchString(name) {
		return fmt.Errorf("%q is not a name", name)
	}
	return nil
}

func checkParameterDef(def string) error {
	name, value, given := strings.Cut(def, "=")
	if !given || !reSignal.MatchString(name) {
		return fmt.Errorf("%q is not NAME=VALUE", def)
	}
	return checkParameter(value)
}

var reExtension = regexp.MustCompile(`^\.?[A-Za-z0-9_]+$`)

func checkExtension(ext string) error {
	if !reExtension.MatchString(ext) {
		return fmt.Errorf("%q is not an extension of file names", ext)
	}
	return nil
}

func (m *Manifest) checkFlags(add func(string, string, ...any)) {
	abs := func(p string) (string, error) { return p, CheckPath(p) }
	_, faults := TakeFlags(m.VerilatorFlags, abs)
	for _, f := range faults {
		add(fmt.Sprintf("verilator_flags[%d]", f.index), "verilator_flags: %v", f.err)
	}
}

// FlagArgs returns the manifest's options in the form that Verilator gets; path converts a file or folder.
func (m *Manifest) FlagArgs(path func(abs string) string) ([]string, error) {
	args, faults := TakeFlags(m.VerilatorFlags, func(p string) (string, error) {
		return path(m.Abs(p)), errors.Join(CheckPath(p), CheckHit(m.Rel(m.Abs(p))))
	})
	var errs []error
	for _, f := range faults {
		errs = append(errs, m.Errorf(fmt.Sprintf("verilator_flags[%d]", f.index), "verilator_flags: %v", f.err))
	}
	return args, errors.Join(errs...)
}

// DefineArg returns the option that defines a macro, NAME or NAME=VALUE.
func DefineArg(def string) string {
	if strings.Contains(def, "=") {
		return "-D" + def
	}
	return "+define+" + def // -DEBUG would be Verilator's own -debug
}
