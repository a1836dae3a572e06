// Package docs quotes the hardware contract, docs/nic.md, for reports on breaches of it.
//
// It holds no code of its own: the page is embedded as it is.
package docs

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed nic.md
var contract string

// reRule matches the beginning of a rule: an item of a list, or a paragraph.
var reRule = regexp.MustCompile(`(?m)^(?:- )?\*\*\[([A-Z][0-9]+)\]\*\* `)

// Rule returns the text of a rule of the contract, with items of a list on lines of their own, or an empty string.
func Rule(name string) string {
	for _, m := range reRule.FindAllStringSubmatchIndex(contract, -1) {
		if contract[m[2]:m[3]] != name {
			continue
		}
		var lines []string
		for line := range strings.Lines(contract[m[1]:]) {
			if len(lines) > 0 && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "- ")) {
				break
			}
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "- ") { // an item below the rule
				line = "\n" + line
			}
			lines = append(lines, line)
		}
		return strings.ReplaceAll(strings.Join(lines, " "), " \n", "\n")
	}
	return ""
}
