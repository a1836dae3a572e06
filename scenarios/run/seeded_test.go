package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/home"
	"nictwin/scenarios/shell/home/hometest"
)

// seeded is a bug from ci/mutants that a scenario must find.
type seeded struct {
	name, patch string // patch is the file that puts the bug into the RTL
	scenario    string // file relative to the tree's root
	only        string // name of the case to play
	rule        string // rule that the referee must name
}

// seededBugs returns the bugs that scenarios find, sorted by name.
func seededBugs(t *testing.T, root string) (all []seeded) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, "ci/mutants/stack-*.patch"))
	require.NoError(t, err)
	for _, file := range list {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		key := func(k string) string {
			m := regexp.MustCompile(`(?m)^` + k + `: (.+)$`).FindStringSubmatch(string(text))
			require.NotNil(t, m, "%s: %s: want a value", file, k)
			return m[1]
		}
		b := seeded{name: strings.TrimSuffix(filepath.Base(file), ".patch"), patch: file, rule: key("rule")}
		b.scenario, b.only, _ = strings.Cut(key("scenario"), " ")
		all = append(all, b)
	}
	return all
}

// theCase returns the case that finds the bug.
func (b *seeded) theCase(t *testing.T, root string) *Case {
	t.Helper()
	list, err := Load(filepath.Join(root, b.scenario))
	require.NoError(t, err)
	if b.only == "" {
		require.Len(t, list, 1, "%s: %s has several cases: want one named", b.name, b.scenario)
		return list[0]
	}
	at := slices.IndexFunc(list, func(c *Case) bool { return c.Name == b.only })
	require.GreaterOrEqual(t, at, 0, "%s: %s has no case %s", b.name, b.scenario, b.only)
	return list[at]
}

// broken returns a home with a copy of the RTL that has the bug.
func (b *seeded) broken(t *testing.T, root string) home.Home {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "verilator"), os.DirFS(filepath.Join(root, "verilator"))))
	out, err := exec.Command("patch", "-d", dir, "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i",
		b.patch).CombinedOutput()
	require.NoError(t, err, "patch: %s", out)
	h, err := home.Find(dir)
	require.NoError(t, err)
	return h
}

// quickBugs lists the bugs played in every test run: one of ordering and one at a corner length. The others need
// NICTWIN_LONG (make mutants-stack, make test-all).
var quickBugs = []string{"stack-torn-line", "stack-rx-last-byte"}

// Bugs of ordering and at corner lengths in the RTL are found twice, independently: the application finds, at a
// completion, a byte that differs from the one sent, and the referee names the rule that the NIC breaks. Without the
// bug, the same case passes.
func TestSeededBugs(t *testing.T) {
	h, err := hometest.Find()
	require.NoError(t, err)
	all := seededBugs(t, h.Dir)
	require.GreaterOrEqual(t, len(all), 10)
	for _, b := range all {
		if os.Getenv("NICTWIN_LONG") == "" && !slices.Contains(quickBugs, b.name) {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			c := b.theCase(t, h.Dir)
			p, err := c.Play(t.Context(), optionsFor(t, device.RTL))
			require.NoError(t, err)
			require.True(t, p.Pass(), "without the bug: %s", texts(p))
			p, err = c.Play(t.Context(), Options{NIC: device.RTL, DUT: b.broken(t, h.Dir).Path("nic")})
			require.NoError(t, err)
			application := firstOf(p, func(f *result.Finding) bool {
				return f.Domain == result.Application &&
					f.Field == "byte"
			})
			referee := firstOf(p, func(f *result.Finding) bool {
				return f.Domain != result.Application &&
					f.Rule == b.rule
			})
			require.NotNil(t, application, "no application found a wrong byte; what was found:\n%s", texts(p))
			require.NotNil(t, referee, "no referee named %s; what was found:\n%s", b.rule, texts(p))
			t.Log("application: " + application.Text)
			t.Log("referee: " + firstLine(referee.Text))
		})
	}
}

// firstOf returns the first finding for which `is` returns true, or nil.
func firstOf(p *Played, is func(*result.Finding) bool) *result.Finding {
	for i := range p.Findings {
		if f := &p.Findings[i]; is(f) {
			return f
		}
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
