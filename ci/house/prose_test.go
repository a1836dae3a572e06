package house

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// riddles matches wordings that leave the reader of a comment to guess, such as "x is what a list has". A comment
// should say what a thing is, with a noun of the field, or what it does, with a verb.
var riddles = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*[\w.]+ (is|are) (those|what|how|whether|when|where|who|which|the one|one that)\b`),
	regexp.MustCompile(`(?i)\b(is|are|was|were|be) told\b|\btells? (of|who|what|that)\b`),
	regexp.MustCompile(`(?i)\bthat there (is|are)\b|\bis none\b|\bis no \w+ that\b`),
	regexp.MustCompile(`(?i)\b(is|are) to be\b|\bcomes? to be\b|\bbecomes? of\b|\bcome of (it|this|that)\b`),
	regexp.MustCompile(`(?i)\bof which\b|\b(by|with|of) what\b|\bwhat (is|was) (not|left|missing|kept|there)\b`),
	regexp.MustCompile(`(?i)\bhas (it|them) (so|otherwise)\b|\bhas its? \w+ (go|be|come)\b|\bstands? (here|there|in the)\b`),
}

var comment = regexp.MustCompile(`^\s*(?://+|#)\s?(.*)$|\s//\s(.*)$`)

// commentOf returns the text of a line's comment, "" if it has none.
func commentOf(line string) string {
	m := comment.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

func isRiddle(text string) bool {
	return slices.ContainsFunc(riddles, func(r *regexp.Regexp) bool { return r.MatchString(text) })
}

// countRiddles returns, by folder, the number of lines whose comment matches a pattern of the list `riddles`.
func countRiddles(t *testing.T) map[string]int {
	top, count := root(t), map[string]int{}
	for _, name := range sources(t, ".go", ".sv", ".svh", ".v", ".cpp", ".h", ".py", ".sh") {
		text, err := os.ReadFile(filepath.Join(top, name))
		require.NoError(t, err)
		s := bufio.NewScanner(bytes.NewReader(text))
		s.Buffer(nil, len(text)+1)
		for s.Scan() && !strings.HasSuffix(name, "_gen.go") {
			if isRiddle(commentOf(s.Text())) {
				count[path.Dir(name)]++
			}
		}
	}
	return count
}

// TestProse checks that no folder has more comments of hard-to-read patterns than testdata/prose.txt allows. A limit
// above the folder's count fails, too, so that limits can only fall.
func TestProse(t *testing.T) {
	onlyFall(t, "testdata/prose.txt", countRiddles(t), "comments that leave the reader to guess: say what the thing is or does")
}

func TestRiddles(t *testing.T) {
	for text, want := range map[string]bool{
		"nodes is how many a list has": true, "nodes returns the list's length": false,
		"it is told of the end": true, "reports the end": false,
	} {
		require.Equal(t, want, isRiddle(text), text)
	}
	require.Equal(t, "a b", commentOf("\tx := 1 // a b"))
	require.Equal(t, "a", commentOf("  # a"))
	require.Empty(t, commentOf(`	u := "http://x"`))
}
