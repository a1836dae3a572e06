package manifest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"nictwin/models/sim/specfile"
)

// reParameter matches a value of a parameter in the form that Verilator takes on the command line: a number (5,
// -3, 0x1f, 1.5e3), a literal of SystemVerilog (8'hff, 'b101, '1), or a string in double quotes.
var reParameter = regexp.MustCompile(`^(?:` +
	`-?[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|-?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?|` +
	`[0-9]*'[sS]?[bB][01xXzZ?_]+|[0-9]*'[sS]?[oO][0-7xXzZ?_]+|[0-9]*'[sS]?[dD][0-9_]+|` +
	`[0-9]*'[sS]?[hH][0-9a-fA-FxXzZ?_]+|'[01xXzZ]|` +
	`"(?:[^"\\[:cntrl:]]|\\["\\nt])*")$`)

const parameterForms = `a number (5, -3, 0x1f, 1.5), a literal (8'hff, 'b101) or a string in double quotes ` +
	`(written '"text"' in YAML)`

// checkParameter checks the value of a parameter.
func checkParameter(value string) error {
	if !reParameter.MatchString(value) {
		return fmt.Errorf("%q: needs %s", value, parameterForms)
	}
	return specfile.CheckOctal(value)
}

// checkMacro checks the value of a macro, which is text of the design: anything in one line.
func checkMacro(value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) {
		return fmt.Errorf("%q: the value of a macro is one line without control characters", value)
	}
	return nil
}

// CheckMacroDef checks NAME or NAME=VALUE.
func CheckMacroDef(def string) error {
	name, value, _ := strings.Cut(def, "=")
	if !reSignal.MatchString(name) {
		return fmt.Errorf("%q is not NAME or NAME=VALUE", def)
	}
	return checkMacro(value)
}

func (m *Manifest) checkValues(add func(string, string, ...any)) {
	for _, k := range SortedKeys(m.Defines) {
		if !reSignal.MatchString(k) {
			add("defines."+k, "define %q is not a macro name", k)
		} else if err := checkMacro(m.Defines[k]); err != nil {
			add("defines."+k, "defines.%s: %v", k, err)
		}
	}
	for _, k := range SortedKeys(m.Parameters) {
		if !reSignal.MatchString(k) {
			add("parameters."+k, "parameter %q is not an identifier", k)
		} else if err := checkParameter(m.Parameters[k]); err != nil {
			add("parameters."+k, "parameters.%s: %v", k, err)
		}
	}
}
