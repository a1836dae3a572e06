package house

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// TestLinksLeadSomewhere checks the relative links of pages: they break unnoticed when a file moves or a
// heading is reworded.
func TestLinksLeadSomewhere(t *testing.T) {
	pages := 0
	walkExt(t, ".md", func(path string) {
		pages++
		for _, fault := range brokenLinks(t, root(t), path) {
			t.Error(fault)
		}
	})
	require.Greater(t, pages, 5, "the walk must have found the pages")
}

func TestBrokenLinksAreFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("docs/b.md", "# One Two, `three_four`!\n## Twice\n### Twice\n[ref]\n\n[ref]: ../a.md\n[gone]: none.md\n")
	write("a.md", strings.Join([]string{
		"# Top",
		"[ok](docs/b.md) [dir](docs) [own](#top) [far](https://example.org/x#y) [mail](mailto:a@b.c)",
		"[heading](docs/b.md#one-two-three_four) [second](docs/b.md#twice-1 \"title\") ![picture](docs/b.md)",
		"`[code](nowhere.md)`",
		"```",
		"[fenced](nowhere.md)",
		"# Not a heading",
		"```",
		"[file](docs/c.md) [anchor](docs/b.md#three)",
		"[own](#not-a-heading) [out](../a.md) [slash](/docs/b.md)",
	}, "\n"))
	require.Equal(t, []string{
		"a.md:9: docs/c.md: no such file", "a.md:9: docs/b.md#three: no heading there has this anchor",
		"a.md:10: #not-a-heading: no heading there has this anchor", "a.md:10: ../a.md: leads out of the tree",
		"a.md:10: /docs/b.md: links are relative to the page",
	}, brokenLinks(t, dir, "a.md"))
	require.Equal(t, []string{"docs/b.md:7: none.md: no such file"}, brokenLinks(t, dir, "docs/b.md"))
}

var (
	inlineLink = regexp.MustCompile(`\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)`)
	defineLink = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s+<?([^>\s]+)>?`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)\s*#*$`)
)

// prose calls visit with every line of a page outside code blocks, and the line's number.
func prose(t *testing.T, path string, visit func(n int, line string)) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	fence := ""
	for n, line := range strings.Split(string(text), "\n") {
		mark := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case strings.HasPrefix(mark, "```"), strings.HasPrefix(mark, "~~~"):
			fence = mark[:3]
		default:
			visit(n+1, line)
		}
	}
}

// brokenLinks returns the faults in the relative links of a page, whose path is relative to the top of the tree.
func brokenLinks(t *testing.T, top, page string) (faults []string) {
	t.Helper()
	prose(t, filepath.Join(top, page), func(n int, line string) {
		line = inlineCode.ReplaceAllString(line, "")
		for _, m := range append(inlineLink.FindAllStringSubmatch(line, -1),
			defineLink.FindAllStringSubmatch(line, -1)...) {
			if why := brokenLink(t, top, page, m[1]); why != "" {
				faults = append(faults, fmt.Sprintf("%s:%d: %s: %s", page, n, m[1], why))
			}
		}
	})
	return faults
}

// brokenLink returns why a link is broken, or an empty string if it works or leads outside the tree.
func brokenLink(t *testing.T, top, page, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme != "" || u.Host != "":
		return ""
	case strings.HasPrefix(u.Path, "/"):
		return "links are relative to the page"
	}
	target := page
	if u.Path != "" {
		target = filepath.Join(filepath.Dir(page), filepath.FromSlash(u.Path))
	}
	if !filepath.IsLocal(target) {
		return "leads out of the tree"
	}
	target = filepath.Join(top, target)
	if _, err := os.Stat(target); err != nil {
		return "no such file"
	}
	if u.Fragment != "" && !anchors(t, target)[u.Fragment] {
		return "no heading there has this anchor"
	}
	return ""
}

// anchors returns the anchors that GitHub generates for the headings of a page.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	all, times := map[string]bool{}, map[string]int{}
	if filepath.Ext(path) != ".md" {
		return all
	}
	prose(t, path, func(_ int, line string) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			return
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		name := slug
		if n := times[slug]; n > 0 {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		times[slug]++
		all[name] = true
	})
	return all
}
