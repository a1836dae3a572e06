package house

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notOurs lists files that pages may name although they are not in the tree, each with the reason.
var notOurs = map[string]string{
	"events.jsonl": "artifact", "frames.pcapng": "artifact", "coverage.json": "artifact",
	"throughput.svg":   "artifact",
	"transactions.txt": "artifact", "gl-code-quality-report.json": "artifact",
	"wires.pcapng": "artifact", "wave.fst": "artifact", "wave-NIC.fst": "artifact", "points.tsv": "in a build",
	"my": "example: a folder of the reader", "capture.pcapng": "example", "shrunk.pcapng": "artifact",
	"shrunk-1.pcapng": "artifact", "wave-1.fst": "in a bundle", "shrunk.yaml": "artifact", "trace.pcap": "example",
	"fifo.v": "example",
	"skid.v": "example", "nic.fst": "example", "baseline.json": "made by gate --write",
}

// TestPagesNameFilesThatExist checks that files, folders and make targets named on pages exist. Commands
// and flags are checked in cmd/nictwin, links in links_test.go. The changelog may name deleted files.
func TestPagesNameFilesThatExist(t *testing.T) {
	tree := readTree(t, root(t))
	used := map[string]bool{}
	walkExt(t, ".md", func(page string) {
		if page == "CHANGELOG.md" {
			return
		}
		text, err := os.ReadFile(filepath.Join(root(t), page))
		require.NoError(t, err)
		for _, n := range namesIn(string(text)) {
			first, _, _ := strings.Cut(n.name, "/")
			if notOurs[path.Base(n.name)] != "" {
				used[path.Base(n.name)] = true
			} else if notOurs[first] != "" {
				used[first] = true
			} else if why := tree.fault(filepath.ToSlash(page), n); why != "" {
				t.Errorf("%s:%d: %s: %s", page, n.line, n.name, why)
			}
		}
	})
	for name := range notOurs {
		require.True(t, used[name], "%s: no page uses this exception", name)
	}
}

// TestSourcesNamePagesThatExist checks the pages named in help, errors and comments.
func TestSourcesNamePagesThatExist(t *testing.T) {
	page := regexp.MustCompile(`\bdocs/[a-z-]+\.md\b`)
	found := 0
	for _, ext := range []string{".go", ".sv", ".hpp", ".cpp", ".py", ".sh", ".yaml"} {
		walkExt(t, ext, func(source string) {
			if strings.HasPrefix(filepath.ToSlash(source), "ci/house/") { // examples of faults
				return
			}
			text, err := os.ReadFile(filepath.Join(root(t), source))
			require.NoError(t, err)
			for _, p := range page.FindAllString(string(text), -1) {
				found++
				if _, err := os.Stat(filepath.Join(root(t), p)); err != nil {
					t.Errorf("%s names %s: no such page", source, p)
				}
			}
		})
	}
	require.Greater(t, found, 50, "the walk must have found the pages' names")
}

// named is one name in a page's code: of a file, a folder or a make target.
type named struct {
	line   int
	name   string
	target bool // the name is that of a make target
}

var (
	pathWord   = regexp.MustCompile(`[\w.*{},/…-]+`)
	makeTarget = regexp.MustCompile(`\bmake ([a-z][a-z-]*)`)
	fileName   = regexp.MustCompile(
		`\w\.(go|svh?|v|cpp|hpp|py|sh|md|yaml|jsonl?|txt|txtar|patch|pcap|pcapng|tsv|fst|svg)$`)
	goSymbol = regexp.MustCompile(`^([\w/]+)\.[A-Z]\w*(\.\w+)*$`)
)

// namesIn returns the names in code spans and code blocks of a page, except for blocks that show the
// reader's own files.
func namesIn(text string) (all []named) {
	fence, mine := "", false
	for i, line := range strings.Split(text, "\n") {
		mark := strings.TrimSpace(line)
		switch {
		case fence != "" && strings.HasPrefix(mark, fence):
			fence = ""
		case fence != "" && mine:
		case fence != "":
			all = append(all, namesOf(i+1, line)...)
		case strings.HasPrefix(mark, "```"), strings.HasPrefix(mark, "~~~"):
			fence, mine = mark[:3], len(strings.Fields(mark)) > 1 && !strings.HasPrefix(mark, "```json")
		default:
			for _, span := range inlineCode.FindAllString(line, -1) {
				all = append(all, namesOf(i+1, strings.Trim(span, "`"))...)
			}
		}
	}
	return all
}

// namesOf returns the names in a line of code: words with a slash or with a file's extension.
func namesOf(line int, code string) (all []named) {
	for _, m := range makeTarget.FindAllStringSubmatch(code, -1) {
		all = append(all, named{line: line, name: m[1], target: true})
	}
	for _, word := range pathWord.FindAllString(code, -1) {
		word = strings.Trim(word, ",/…")
		word = strings.TrimRight(word, ".")
		if strings.Contains(word, "/") || fileName.MatchString(word) {
			all = append(all, named{line: line, name: word})
		}
	}
	return all
}

// tree holds the files and folders of the repository, and the targets of its Makefile.
type tree struct {
	paths   map[string]bool // files and folders, by path from the top
	tops    map[string]bool // folders at the top
	endings map[string]bool // every path, with any number of its first folders removed
	targets map[string]bool // make targets
}

func readTree(t *testing.T, top string) *tree {
	t.Helper()
	tr := &tree{paths: map[string]bool{}, tops: map[string]bool{}, endings: map[string]bool{},
		targets: map[string]bool{}}
	require.NoError(t, fs.WalkDir(os.DirFS(top), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || p == ".":
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".venv" || p == "bin" || p == "out"):
			return fs.SkipDir
		case d.IsDir() && !strings.Contains(p, "/"):
			tr.tops[p] = true
		}
		tr.paths[p] = true
		for rest, more := p, true; more; _, rest, more = strings.Cut(rest, "/") {
			tr.endings[rest] = true
		}
		return nil
	}))
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllStringSubmatch(string(makefile), -1) {
		tr.targets[m[1]] = true
	}
	return tr
}

// fault checks one name on a page. It returns "" if the name is right, else what is wrong. A word that looks like a
// file name, and a path whose first folder lies at the top of the tree, must exist in the tree or beside the page. A
// file may be named without its leading folders (docs_test.go for ci/house/docs_test.go). Other words with a slash,
// such as rx/tx, are not checked, except in ARCHITECTURE.md.
func (tr *tree) fault(page string, n named) string {
	if n.target {
		if !tr.targets[n.name] {
			return "the Makefile has no such target"
		}
		return ""
	}
	for _, p := range alternatives(n.name) {
		first, _, _ := strings.Cut(p, "/")
		if m := goSymbol.FindStringSubmatch(p); m != nil && strings.Contains(p, "/") {
			p = m[1]
		}
		if tr.tops[first] || fileName.MatchString(p) || page == "ARCHITECTURE.md" {
			if !tr.has(p) && !tr.has(path.Join(path.Dir(page), p)) {
				return "no such file or folder"
			}
		}
	}
	return ""
}

// has reports whether the tree has a path, given whole or without its leading folders. Asterisks match as in
// path.Match.
func (tr *tree) has(p string) bool {
	if !strings.Contains(p, "*") {
		return tr.paths[p] || tr.endings[p] && !tr.tops[strings.Split(p, "/")[0]]
	}
	for known := range tr.endings {
		if ok, err := path.Match(p, known); ok && err == nil {
			return true
		}
	}
	return false
}

// alternatives expands the braces of a path: a/{b,c} becomes a/b and a/c.
func alternatives(p string) []string {
	open, rest, found := strings.Cut(p, "{")
	inner, end, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return []string{strings.Trim(p, "{}, ")}
	}
	var all []string
	for one := range strings.SplitSeq(inner, ",") {
		all = append(all, alternatives(open+one+end)...)
	}
	return all
}

func TestTablesHaveOneWidth(t *testing.T) {
	tables := 0
	walkExt(t, ".md", func(page string) {
		found, faults := tableFaults(t, filepath.Join(root(t), page))
		tables += found
		for _, fault := range faults {
			t.Errorf("%s:%s", page, fault)
		}
	})
	require.Greater(t, tables, 50, "the walk must have found the tables")
}

// tableFaults counts the tables of a page and returns their faults: rows with another number of cells than
// the header, or without a header.
func tableFaults(t *testing.T, page string) (tables int, faults []string) {
	t.Helper()
	head, row, last := 0, 0, -1
	alone := func() {
		if row == 1 {
			faults = append(faults, fmt.Sprintf("%d: a table is a head, a line |---|, and rows", last))
		}
	}
	prose(t, page, func(n int, line string) {
		if !strings.HasPrefix(line, "|") {
			return
		}
		cells := strings.Count(strings.ReplaceAll(strings.TrimSpace(line), `\|`, ""), "|") - 1
		rule := strings.Trim(line, "|-: ") == ""
		if n != last+1 {
			alone()
			tables, head, row = tables+1, cells, 0
		}
		switch {
		case !strings.HasSuffix(strings.TrimSpace(line), "|"):
			faults = append(faults, fmt.Sprintf("%d: the row ends without |", n))
		case cells != head:
			faults = append(faults, fmt.Sprintf("%d: %d cells, the table's head has %d", n, cells, head))
		case rule != (row == 1):
			faults = append(faults, fmt.Sprintf("%d: a table is a head, a line |---|, and rows", n))
		}
		row, last = row+1, n
	})
	alone()
	return tables, faults
}

func TestFaultsOfPagesAreFound(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"Makefile": "demo: setup\n", "models/nic/doc.go": "", "docs/a.md": "",
		"scripts/x.sh": ""}
	for name, text := range files {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	tr := readTree(t, dir)
	text := strings.Join([]string{
		"`models/nic` `nic/doc.go` `a.md` `models/{nic,docs}` models/none `x/y`",
		"`models/nic.Spec` `models/*/doc.go` `make demo` `make none` `b.go` `scripts/…`",
		"```", "cat models/nic/doc.go scripts/y.sh", "```",
		"```yaml mine.yaml", "models/none", "```",
		"```json event", "\"scripts/z.sh\"", "```",
	}, "\n")
	var faults []string
	for _, n := range namesIn(text) {
		if why := tr.fault("docs/a.md", n); why != "" {
			faults = append(faults, fmt.Sprintf("%d %s", n.line, n.name))
		}
	}
	require.Equal(t, []string{"1 models/{nic,docs}", "2 none", "2 b.go", "4 scripts/y.sh", "10 scripts/z.sh"}, faults)

	page := filepath.Join(dir, "t.md")
	text = "| a | b |\n|---|---|\n| `x \\| y` | 2 |\n| 1 |\n\n| 3 | 4 |\n| 5 | 6 |\n| 7 | 8\n\n| a |\n|---|\n\n| b |\n"
	require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
	tables, wrong := tableFaults(t, page)
	require.Equal(t, 4, tables)
	require.Equal(t, []string{
		"4: 1 cells, the table's head has 2", "7: a table is a head, a line |---|, and rows",
		"8: the row ends without |",
		"13: a table is a head, a line |---|, and rows",
	}, wrong)
	require.Equal(t, []string{"docs", "models", "scripts"}, slices.Sorted(maps.Keys(tr.tops)))
}
