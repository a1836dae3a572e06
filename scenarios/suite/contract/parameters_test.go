package contract

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// bad lists parameter values that no build supports [B2]. Each is tried alone.
var bad = []map[string]int{
	{"Ports": 3, "EthBits": 1000, "TlpBits": 256, "NumRxq": 3, "NumTxq": 48, "NumKeys": 8, "NumRules": 3,
		"Parts": int(nicspec.PartsAll) + 1},
	{"Ports": 0, "EthBits": 2048, "TlpBits": 2048, "NumRxq": 512, "NumTxq": 2, "NumKeys": 5000, "NumRules": 257,
		"Parts": 1 << 30},
	{"NumRxq": 48, "NumTxq": 512, "NumKeys": 8192, "NumRules": 0},
}

// refusedHere lists values that the contract allows, but that this RTL does not support and must refuse.
var refusedHere = map[string]int{"EthBits": 1024, "TlpBits": 512}

// TestBadParameters checks that unsupported parameters are refused by name: by the RTL at elaboration, by the Go
// NIC when its spec is validated.
func TestBadParameters(t *testing.T) {
	for _, set := range bad {
		require.Equal(t, keys(set), refusedByRTL(t, set), "the RTL")
		s := nicspec.DefaultBuild()
		for name, v := range set {
			*fieldOf(&s, name) = v
		}
		if v, ok := set["Parts"]; ok {
			s.Parts = nicspec.Cap1Reg(v)
		}
		require.Equal(t, keys(set), refusedByGo(s.Validate(), keys(set)), "the Go NIC")
	}
	require.Equal(t, keys(refusedHere), refusedByRTL(t, refusedHere))
}

func keys(m map[string]int) (all []string) {
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// fieldOf returns a parameter's field in the spec of the Go NIC.
func fieldOf(s *nicspec.Build, name string) *int {
	return map[string]*int{"Ports": &s.Ports, "EthBits": &s.EthBits, "TlpBits": &s.TLPBits, "NumRxq": &s.NumRxq,
		"NumTxq":  &s.NumTxq,
		"NumKeys": &s.NumKeys, "NumRules": &s.NumRules, "Parts": new(int)}[name]
}

var refusal = regexp.MustCompile(`: nic_top: (\w+) (?:must|has)`)

// refusedByRTL elaborates the NIC with these parameters and returns the names of those that its top module refuses.
func refusedByRTL(t *testing.T, set map[string]int) (names []string) {
	t.Helper()
	all, err := filepath.Glob("../../../verilator/rtl/*/*.sv")
	require.NoError(t, err)
	order := func(f string) int { // packages come before modules, imported packages before importers
		return slices.Index([]bool{strings.HasSuffix(f, "/nic_pkg.sv"), strings.HasSuffix(f, "/nic_int_pkg.sv"),
			strings.HasSuffix(f, "_pkg.sv"), true}, true)
	}
	slices.SortStableFunc(all, func(a, b string) int { return order(a) - order(b) })
	args := []string{"--lint-only", "-Wno-fatal", "-Werror-USERFATAL", "--error-limit", "0",
		"-I../../../verilator/rtl/packages", "--top-module", "nic_top"}
	for _, name := range keys(set) {
		args = append(args, "-G"+name+"="+strconv.Itoa(set[name]))
	}
	text, err := exec.CommandContext(t.Context(), "verilator", append(args, all...)...).CombinedOutput()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit), "elaboration with %v: expected it to fail, got %v", set, err)
	for _, m := range refusal.FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// refusedByGo returns those of the parameter names that an error names, spelled as in a spec.
func refusedByGo(err error, names []string) (refused []string) {
	var spelled []string
	for line := range strings.Lines(err.Error()) {
		spelled = append(spelled, strings.ReplaceAll(line[:strings.Index(line, " ")], "_", ""))
	}
	for _, name := range names {
		if slices.Contains(spelled, strings.ToLower(name)) {
			refused = append(refused, name)
		}
	}
	return refused
}
