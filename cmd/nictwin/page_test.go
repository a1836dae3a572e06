package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// pageBlock matches a code block of a page: a named file, or commands marked as passing or failing.
var pageBlock = regexp.MustCompile("(?ms)^```(\\w+) ([\\w./-]+)\n(.*?)^```")

// cmdPage is "page FILE": executes the instructions of a page. Blocks with a name become files of that
// name; commands in a block "sh passes" must end with code 0, those in "sh fails" with 1.
func cmdPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: page FILE")
	}
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	codes := map[string]int{"passes": 0, "fails": 1}
	ran := 0
	for _, m := range pageBlock.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "sh" {
			at := ts.MkAbs(m[2])
			ts.Check(os.MkdirAll(filepath.Dir(at), 0o755))
			ts.Check(os.WriteFile(at, []byte(m[3]), 0o644))
			continue
		}
		want, known := codes[m[2]]
		if !known {
			ts.Fatalf("%s: commands %s: want passes or fails", args[0], m[2])
		}
		for l := range strings.Lines(m[3]) {
			words := strings.Fields(l)
			checkCode(ts, want, ts.Exec(words[0], words[1:]...))
			ran++
		}
	}
	if ran == 0 {
		ts.Fatalf("%s has no commands", args[0])
	}
}
