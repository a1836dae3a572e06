package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// Schema is the version of Info; it changes when a field changes its meaning or is removed.
const Schema = 1

// Info is bundle.json: what to play, on which device, and what was found.
type Info struct {
	Schema  int      `json:"schema"`
	Command string   `json:"command"` // replay, run, fuzz or play
	Flags   []string `json:"flags"`   // --NAME=VALUE, or --NAME of a truth value; see FlagNames
	Inputs  []Input  `json:"inputs"`  // in the order in which they are played
	DUT     *DUT     `json:"dut,omitempty"`
	// source revision of the program that wrote the bundle, with +changes if its tree had any; empty if unknown
	Revision string         `json:"revision"`
	Seed     uint64         `json:"seed"`
	Original map[string]int `json:"original,omitempty"` // size of the run's input: packets, entries, messages, …
	Shrunk   map[string]int `json:"shrunk,omitempty"`   // size of the bundle's input; omitted if it was not shrunk
	Result   string         `json:"result"`             // mismatch or infrastructure
	// the run was judged by a reference in Go, which a bundle does not hold
	Reference bool `json:"reference,omitempty"`

	Finding *result.Finding `json:"finding,omitempty"` // the first; nil if the device crashed or hung before one
	Error   string          `json:"error,omitempty"`   // what ended the run, if something did
	Failure result.Kind     `json:"failure,omitempty"` // kind of the run's failure; empty: it has none
}

// Input is a file of the bundle that the command reads.
type Input struct {
	Name string `json:"name"` // of the entry: inputs/…
	Role Role   `json:"role"`
}

// Role says what an input is for.
type Role string

// The roles.
const (
	Capture      Role = "capture"
	Scenario     Role = "scenario"
	Program      Role = "program"
	Board        Role = "board"
	Transactions Role = "transactions" // transactions of the failing run of play, for people to read
)

// DUT identifies the RTL device by name and hashes.
type DUT struct {
	Name     string `json:"name"`
	Manifest string `json:"manifest_sha256"`
	Build    string `json:"build"` // hash of the build; empty if it is not known
}

// most holds the maximum number of inputs that a command takes, by role.
type most map[Role]int

// commands lists the commands that have bundles: the flags that a bundle may set, and the roles of its inputs.
var commands = map[string]struct {
	flags []string
	roles most
	needs Role // role of the input without which there is nothing to play; empty: none
}{
	"replay": {[]string{"nic", "ports", "eth-bits", "dir", "speed", "max-gap", "seed", "stall", "loop", "limit", "pad",
		"recompute", "variant", "link", "quantum", "serial", "idle-cycles"}, most{Capture: maxInputs, Board: 1},
		Capture},
	"run":  {[]string{"nic", "variant", "link", "seed", "only"}, most{Scenario: 1}, Scenario},
	"fuzz": {[]string{"nic", "variant", "link"}, most{Program: 1, Board: 1}, Program},
	"play": {[]string{"seed", "runs", "count", "stream", "stall", "param", "tie", "clock", "resets", "keep", "cut",
		"no-gaps", "no-shrink", "variant", "link"}, most{Capture: maxInputs, Transactions: 1}, ""},
}

// Commands returns the commands that have bundles, sorted.
func Commands() []string { return slices.Sorted(maps.Keys(commands)) }

// FlagNames returns the flags of a command that a bundle may set.
func FlagNames(command string) []string { return commands[command].flags }

// Flag splits an entry of Info.Flags into name and value; without a value, it is a truth value that is true.
func Flag(text string) (name, value string) {
	name, value, given := strings.Cut(strings.TrimPrefix(text, "--"), "=")
	if !given {
		value = "true"
	}
	return name, value
}

// WithRole returns the names of the inputs with a role, in order.
func (i *Info) WithRole(role Role) (names []string) {
	for _, x := range i.Inputs {
		if x.Role == role {
			names = append(names, x.Name)
		}
	}
	return names
}

// Limits of bundle.json.
const (
	maxInputs = 32
	maxFlags  = 256
	maxText   = 1 << 16 // bytes of a flag
)

var (
	dutForm  = lazy(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	hashForm = lazy(`^[0-9a-f]*$`)
	sizeForm = lazy(`^[a-z]{1,30}$`)
	flagForm = lazy(`^--[a-z][a-z-]*(=|$)`)
)

const sha256Digits = 64

// ValidName reports whether a bundle can have a device of this name.
func ValidName(dut string) bool { return dutForm().MatchString(dut) }

// parseInfo reads bundle.json strictly.
func parseInfo(text []byte) (*Info, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("is not UTF-8")
	}
	var version struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, files.JSONError(err)
	}
	if version.Schema != Schema {
		return nil, fmt.Errorf("schema %d: this nictwin reads %d", version.Schema, Schema)
	}
	i := new(Info)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(i); err != nil {
		return nil, files.JSONError(err)
	}
	return i, i.validate()
}

// validate returns every error that bundle.json shows without the other entries.
func (i *Info) validate() error {
	c, known := commands[i.Command]
	if !known {
		return fmt.Errorf("command %q: want %s", i.Command, strings.Join(Commands(), ", "))
	}
	errs := []error{i.validateFlags(c.flags), i.validateInputs(c.roles, c.needs)}
	bad := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	bad(i.Result == result.Mismatch.String() || i.Result == result.Infrastructure.String(),
		"result %q: want %s or %s", i.Result, result.Mismatch, result.Infrastructure)
	bad(i.Result != result.Mismatch.String() || i.Finding != nil,
		"finding: is missing: want that of the mismatch, with which a run is compared")
	if d := i.DUT; d != nil {
		bad(ValidName(d.Name), "dut.name %q: want a device's name: letters, digits, _, - and .", d.Name)
		bad(hashForm().MatchString(d.Manifest) && len(d.Manifest) == sha256Digits,
			"dut.manifest_sha256 %q: want %d hexadecimal digits", d.Manifest, sha256Digits)
		bad(hashForm().MatchString(d.Build) && len(d.Build) <= sha256Digits, "dut.build %q: want a hash", d.Build)
	}
	bad(i.Command != "play" || i.DUT != nil, "dut: missing: play has a device")
	bad(!strings.ContainsFunc(i.Revision, unicode.IsControl), "revision: has control characters")
	for _, sizes := range []map[string]int{i.Original, i.Shrunk} {
		for _, name := range slices.Sorted(maps.Keys(sizes)) {
			bad(sizeForm().MatchString(name), "%q: want a word", cut(name))
			bad(sizes[name] >= 0, "%s %d: want 0 or more", cut(name), sizes[name])
		}
	}
	return errors.Join(errs...)
}

// validateFlags refuses flags that a bundle may not set.
func (i *Info) validateFlags(allowed []string) error {
	if len(i.Flags) > maxFlags {
		return fmt.Errorf("flags: %d: want at most %d", len(i.Flags), maxFlags)
	}
	var errs []error
	for _, f := range i.Flags {
		name, value := Flag(f)
		switch {
		case len(f) > maxText:
			errs = append(errs, fmt.Errorf("flag --%s: %d bytes: want at most %d", cut(name), len(f), maxText))
		case !flagForm().MatchString(f) || !slices.Contains(allowed, name):
			errs = append(errs, fmt.Errorf("flag %q: a bundle of %s cannot set it: want one of --%s", cut(f), i.Command,
				strings.Join(allowed, ", --")))
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			errs = append(errs, fmt.Errorf("flag %q: has control characters", cut(f)))
		}
	}
	return errors.Join(errs...)
}

// cut shortens a text for a message.
func cut(s string) string {
	const shown = 80
	if len(s) <= shown {
		return s
	}
	return strings.ToValidUTF8(s[:shown], "") + "…"
}

// validateInputs refuses names and roles that the command does not know, and more inputs than it takes.
func (i *Info) validateInputs(roles most, needs Role) error {
	var errs []error
	count, seen := most{}, map[string]bool{}
	for _, x := range i.Inputs {
		most, known := roles[x.Role]
		count[x.Role]++
		switch {
		case !inputForm().MatchString(x.Name):
			errs = append(errs, fmt.Errorf("input %q: want %s", cut(x.Name), wantInput))
		case seen[x.Name]:
			errs = append(errs, fmt.Errorf("input %q: is there twice", x.Name))
		case !known:
			errs = append(errs, fmt.Errorf("input %q: role %q: a bundle of %s has %s", x.Name, cut(string(x.Role)),
				i.Command, roleNames(roles)))
		case count[x.Role] == most+1:
			errs = append(errs, fmt.Errorf("input %q: more than %d with role %s", x.Name, most, x.Role))
		}
		seen[x.Name] = true
	}
	if needs != "" && count[needs] == 0 {
		errs = append(errs, fmt.Errorf("inputs: none with role %s, so there is nothing to play", needs))
	}
	return errors.Join(errs...)
}

func roleNames(roles most) string {
	var names []string
	for _, r := range slices.Sorted(maps.Keys(roles)) {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}
