package claims

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// theirs is a claim in the collection of claims outside this tree, from which the embedded files are taken.
type theirs struct {
	ID, Paper, Where, Metric, Bound, Unit, Kind, Role, Derivability string
	Value                                                           yaml.Node
	Check                                                           struct {
		Type      string
		Tolerance float64
		Rule      string
	}
	Twin string
}

// TestEveryClaimIsThere counts the claims of each paper by role.
func TestEveryClaimIsThere(t *testing.T) {
	ours, err := All()
	require.NoError(t, err)
	count := map[string][3]int{}
	for i := range ours {
		c := &ours[i]
		n := count[c.Paper]
		n[slices.Index([]string{"output", "input", "context"}, c.Role)]++
		count[c.Paper] = n
	}
	require.Equal(t, map[string][3]int{
		"OffPath": {58, 23, 2}, "RB2": {34, 13, 1}, "SmartNS": {69, 23, 6}, "FlexiNS": {1, 5, 0}, "CEIO": {89, 22, 2},
	}, count)
}

// checkOwn checks that the embedded claims are complete by themselves: all of them, each once and with its fields, and
// twins in other papers.
func checkOwn(t *testing.T, ours []Claim) {
	t.Helper()
	require.Len(t, ours, 348)
	ids := map[string]bool{}
	for i := range ours {
		require.False(t, ids[ours[i].ID], ours[i].ID)
		ids[ours[i].ID] = true
	}
	valued := 0
	for i := range ours {
		c := &ours[i]
		require.Empty(t, c.faults(), c.ID)
		require.NotEmpty(t, c.Bound, c.ID)
		require.Regexp(t, `^(offpath|rb2|smartns|flexins|ceio)\.[A-Za-z0-9_.]+$`, c.ID)
		paper, _, _ := strings.Cut(c.ID, ".")
		require.False(t, strings.HasPrefix(c.Twin, paper+"."), "%s: twin %s is of the same paper", c.ID, c.Twin)
		if len(c.Value.Numbers) > 0 || c.Value.Text != "" {
			valued++
		}
	}
	require.Greater(t, valued, len(ours)*3/4, "claims without a value are orders and shapes")
}

// TestClaimsAreThoseOfTheCollection checks the embedded claims by themselves, and compares them with the collection
// from which they were taken, field by field, if it lies beside the repository.
func TestClaimsAreThoseOfTheCollection(t *testing.T) {
	ours, err := All()
	require.NoError(t, err)
	checkOwn(t, ours)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "papers", "claims.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("no collection of claims beside the tree: nothing was compared with it")
		return
	}
	require.NoError(t, err)
	var all struct{ Claims []theirs }
	require.NoError(t, yaml.Unmarshal(text, &all))
	known := map[string]*theirs{}
	for i := range all.Claims {
		known[all.Claims[i].ID] = &all.Claims[i]
	}
	for i := range ours {
		c, o := &ours[i], known[ours[i].ID]
		require.NotNil(t, o, c.ID)
		require.Equal(t, []any{o.Paper, o.Where, o.Metric, o.Bound, o.Unit, o.Kind, o.Role, o.Derivability,
			o.Check.Type, o.Check.Tolerance},
			[]any{c.Paper, c.Where, c.Metric, c.Bound, c.Unit, c.Kind, c.Role, string(c.Derivability), string(c.Check),
				c.Tolerance}, c.ID)
		var v Value
		if o.Value.Kind != 0 {
			require.NoError(t, o.Value.Decode(&v), c.ID)
		}
		require.Equal(t, v, c.Value, c.ID)
		require.Equal(t, o.Twin, c.Twin, c.ID)
		if rule := o.Check.Rule; c.Rule != "" || !saysNoMore.MatchString(rule) {
			require.Equal(t, strings.Join(strings.Fields(rule), " "), c.Rule, c.ID)
		}
	}
	for id := range known {
		require.True(t, has(ours, id), "%s is missing", id)
	}
}

// saysNoMore matches rules that add nothing to check and tolerance.
var saysNoMore = regexp.MustCompile(`^(model input; use as given.*|\|sim/paper - 1\| <= [0-9.]+)$`)

func has(list []Claim, id string) bool {
	for i := range list {
		if list[i].ID == id {
			return true
		}
	}
	return false
}

const good = `claims:
  - {id: a.b, paper: P, where: S1, metric: rate, value: 2.5, bound: eq, unit: x, check: exact, tolerance: 0, ` +
	`kind: ratio, role: output, derivability: structural}
`

func TestParseNamesTheLine(t *testing.T) {
	list, err := Parse("x.yaml", []byte(good))
	require.NoError(t, err)
	require.Equal(t, 1, list[0].Value.Digits)
	for _, x := range []struct{ text, want string }{
		{"claims:\n  - id: a\n    colour: red\n", "x.yaml:3: field colour: want one of id, paper"},
		{"claims:\n  - 7\n", "x.yaml:2: a claim is a mapping"},
		{"claims: [\n", "x.yaml:"},
		{"claim: []\n", "x.yaml:1: field claim not found"},
		{good + good[8:], `x.yaml:3: claim a.b is there twice`},
		{"claims:\n  - {id: a, paper: P, where: S, metric: m, bound: eq, check: close, kind: ratio, role: output, " +
			"derivability: structural}\n",
			`x.yaml:2: claim "a": check "close": want one of exact, within`},
		{"claims:\n  - {id: a, paper: P, where: S, metric: m, bound: eq, check: within, kind: ratio, role: output, " +
			"derivability: structural}\n",
			`check within without a number`},
		{"claims:\n  - {id: a, paper: P, where: S, metric: m, value: 1, bound: eq, check: in_range, kind: ratio, " +
			"role: output, derivability: structural}\n",
			`want two numbers, or low and high`},
		{"claims:\n  - {id: a, value: {x: 1}}\n", "x.yaml:2: value: want nothing, a number"},
		{"claims:\n  - {id: a, value: []}\n", "x.yaml:2: value: want numbers"},
		{good + "---\nclaims: []\n", "x.yaml: a second document"},
	} {
		_, err := Parse("x.yaml", []byte(x.text))
		require.ErrorContains(t, err, x.want)
	}
}

func TestJudge(t *testing.T) {
	num := func(check Check, bound string, tol float64, digits int, v ...float64) *Claim {
		return &Claim{Check: check, Bound: bound, Tolerance: tol, Role: "output",
			Value: Value{Numbers: v, Digits: digits}}
	}
	for _, x := range []struct {
		name  string
		c     *Claim
		found Found
		want  Verdict
	}{
		{"exact to the digits that are printed", num(Exact, "approx", 0, 0, 195), Found{Values: []float64{195.3125}},
			Pass},
		{"exact, beyond them", num(Exact, "approx", 0, 0, 195), Found{Values: []float64{195.6}}, Miss},
		{"exact, at least", num(Exact, "atleast", 0, 0, 293), Found{Values: []float64{500}}, Pass},
		{"exact, one digit", num(Exact, "eq", 0, 1, 716.8), Found{Values: []float64{716.6}}, Miss},
		{"within", num(Within, "approx", 0.1, 0, 100), Found{Values: []float64{109}}, Pass},
		{"beyond", num(Within, "approx", 0.1, 0, 100), Found{Values: []float64{111}}, Miss},
		{"each of two", num(Within, "eq", 0.1, 0, 400, 200), Found{Values: []float64{390, 150}}, Miss},
		{"below zero", num(Within, "approx", 0.5, 0, -0.06), Found{Values: []float64{-0.05}}, Pass},
		{"range", num(InRange, "range", 0.5, 0, 1, 2), Found{Values: []float64{2.9}}, Pass},
		{"each end of a range", ends(num(InRange, "range", 0.25, 0, 2.5, 7.5)), Found{Values: []float64{2.9, 7.2}},
			Pass},
		{"far above the low end", ends(num(InRange, "range", 0.25, 0, 2.5, 7.5)), Found{Values: []float64{4.3, 7.2}},
			Miss},
		{"more than the number", num(Within, "approx", 0.1, 0, 100),
			Found{Values: []float64{100}, Broken: "not the lowest"}, Miss},
		{"outside", num(InRange, "range", 0.5, 0, 1, 2), Found{Values: []float64{0.4}}, Miss},
		{"at most", num(UpperBound, "lt", 0, 0, 5), Found{Values: []float64{5.1}}, Miss},
		{"at least", num(LowerBound, "gt", 0, 0, 5), Found{Values: []float64{5.1}}, Pass},
		{"at least the low end", &Claim{Check: LowerBound, Role: "output", Low: new(0.95)},
			Found{Values: []float64{0.94}}, Miss},
		{"no measurement", num(Within, "eq", 1, 0, 5), Found{Values: []float64{nan()}}, Miss},
		{"no number", num(Within, "eq", 1, 0, 5), Found{Holds: true}, Miss},
		{"order", num(Ordering, "eq", 0, 0), Found{Holds: true}, Pass},
		{"no order", num(Shape, "eq", 0, 0), Found{}, Miss},
		{"an input", &Claim{Check: Input, Role: "input"}, Found{Holds: true}, IsInput},
		{"input with a check", &Claim{Check: Ordering, Role: "input"}, Found{Holds: true}, IsInput},
		{"none", &Claim{Check: None, Role: "output"}, Found{Holds: true}, NotScored},
	} {
		got, why := x.c.Judge(x.found)
		require.Equal(t, x.want, got, x.name)
		require.Equal(t, got == Miss, why != "", x.name)
	}
}

func ends(c *Claim) *Claim {
	c.Ends = true
	return c
}

func nan() float64 { z := 0.0; return z / z }

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("claims: [{value: [1, 2]}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse("x.yaml", text)
		if err != nil {
			return
		}
		for i := range list {
			list[i].Judge(Found{Values: []float64{1, 2, 3}})
			list[i].Judge(Found{Holds: true})
		}
	})
}
