package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
)

// maxEntry limits the characters of a changelog entry: one line for the change; details belong to the docs.
const maxEntry = 160

var (
	versionHeading = regexp.MustCompile(`^## (0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*) - \d{4}-\d\d-\d\d$`)
	lastCommit     = regexp.MustCompile(`\bUp to commit [0-9a-f]{8,40}\.$`)
	changeKinds    = []string{"### Added", "### Changed", "### Fixed", "### Removed"}
)

// TestChangelog checks the form of CHANGELOG.md, and that the program's version is its newest.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "CHANGELOG.md"))
	require.NoError(t, err)
	versions, faults := readChangelog(string(text))
	for _, f := range faults {
		t.Error("CHANGELOG.md:" + f)
	}
	require.NotEmpty(t, versions)
	require.Equal(t, versions[0], result.Release, "scenarios/observe/result.Release is the newest version of "+
		"CHANGELOG.md")
}

// changelog checks lines one after another, and collects versions and faults.
type changelog struct {
	versions []string
	faults   []string
	title    string // heading of the current part, which lists the changes of one version
	kind     int    // index into changeKinds, -1 before the first
	entries  int    // number of entries of the current kind
	commit   bool   // the current part names the last commit of its version
}

// readChangelog returns the versions of a changelog, newest first, and its faults by line. A changelog has a part for
// each version, with kinds of changes in a fixed order and one line per entry, and nothing else.
func readChangelog(text string) (versions, faults []string) {
	c := &changelog{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		c.line(i+1, line)
	}
	c.ends(len(lines))
	return c.versions, c.faults
}

func (c *changelog) line(n int, line string) {
	switch {
	case strings.HasPrefix(line, "## "):
		c.ends(n)
		c.begins(n, line)
	case c.title == "": // text before the first part
	case strings.HasPrefix(line, "### "):
		c.kindEnds(n)
		kind := slices.Index(changeKinds, line)
		if kind <= c.kind {
			c.fault(n, "%q: want Added, Changed, Fixed, Removed, each once at most, in this order", line)
		}
		c.kind, c.entries = max(kind, c.kind), 0
	case strings.HasPrefix(line, "- ") && c.kind >= 0:
		c.entries++
		if length := utf8.RuneCountInString(line); length > maxEntry {
			c.fault(n, "%d characters, an entry has at most %d", length, maxEntry)
		}
	case line != "" && c.kind < 0 && lastCommit.MatchString(line):
		c.commit = true
	case line != "":
		c.fault(n, "%q: want an entry of one line, which begins with a dash", line)
	}
}

func (c *changelog) begins(n int, line string) {
	c.title, c.kind, c.entries, c.commit = line, -1, 0, false
	if line == "## Unreleased" && len(c.versions) == 0 {
		c.commit = true // unreleased changes need not name a last commit
		return
	}
	if !versionHeading.MatchString(line) {
		c.fault(n, "%q: want a heading such as ## 1.2.3 - 2026-11-20", line)
		return
	}
	words := strings.Fields(line)
	if len(c.versions) > 0 && !olderVersion(words[1], c.versions[len(c.versions)-1]) {
		c.fault(n, "version %s stands below %s: newest first", words[1], c.versions[len(c.versions)-1])
	}
	c.versions = append(c.versions, words[1])
}

// ends checks the current part of the changelog when its last line has been read.
func (c *changelog) ends(n int) {
	switch {
	case c.title == "":
		return
	case !c.commit:
		c.fault(n, "the part %q lacks a line that ends with: Up to commit HASH.", c.title)
	case c.kind < 0 && c.title != "## Unreleased":
		c.fault(n, "the part %q has no entries", c.title)
	}
	c.kindEnds(n)
}

func (c *changelog) kindEnds(n int) {
	if c.kind >= 0 && c.entries == 0 {
		c.fault(n, "no entry under %q", changeKinds[c.kind])
	}
}

func (c *changelog) fault(n int, format string, a ...any) {
	c.faults = append(c.faults, fmt.Sprintf("%d: ", n)+fmt.Sprintf(format, a...))
}

// olderVersion reports whether version a is older than b.
func olderVersion(a, b string) bool {
	number := func(v string) (n [3]int) {
		_, _ = fmt.Sscanf(v, "%d.%d.%d", &n[0], &n[1], &n[2])
		return n
	}
	x, y := number(a), number(b)
	return slices.Compare(x[:], y[:]) < 0
}

func TestFaultsOfAChangelogAreFound(t *testing.T) {
	good := "# C\n\nText.\n\n## Unreleased\n\n" +
		"## 0.10.0 - 2026-11-21\n\nX. Up to commit 01234567.\n\n### Added\n- A\n\n### Fixed\n- B\n\n" +
		"## 0.9.0 - 2026-11-20\n\nY. Up to commit 89abcdef.\n\n### Removed\n- C\n"
	versions, faults := readChangelog(good)
	require.Equal(t, []string{"0.10.0", "0.9.0"}, versions)
	require.Empty(t, faults)
	const kinds = "want Added, Changed, Fixed, Removed, each once at most, in this order"
	for _, c := range [][3]string{
		{"- B", "- B\n  and more", `16: "  and more": want an entry of one line, which begins with a dash`},
		{"- B", "", `17: no entry under "### Fixed"`},
		{"- B", "- " + strings.Repeat("é", 159), "15: 161 characters, an entry has at most 160"},
		{"### Fixed", "### Improved", `14: "### Improved": ` + kinds},
		{"### Fixed", "### Added", `14: "### Added": ` + kinds},
		{"0.9.0", "0.10.0", "17: version 0.10.0 stands below 0.10.0: newest first"},
		{"0.9.0", "0.11.0", "17: version 0.11.0 stands below 0.10.0: newest first"},
		{"0.9.0 - 2026", "0.9 - 2026", `17: "## 0.9 - 2026-11-20": want a heading such as ## 1.2.3 - 2026-11-20`},
		{"Y. Up to commit 89abcdef.", "",
			`23: the part "## 0.9.0 - 2026-11-20" lacks a line that ends with: Up to commit HASH.`},
		{"### Removed\n- C\n", "", `21: the part "## 0.9.0 - 2026-11-20" has no entries`},
	} {
		require.Contains(t, good, c[0])
		_, faults := readChangelog(strings.Replace(good, c[0], c[1], 1))
		require.Equal(t, []string{c[2]}, faults)
	}
}
