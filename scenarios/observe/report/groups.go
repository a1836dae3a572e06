package report

import (
	"slices"
	"strings"

	"nictwin/scenarios/observe/result"
)

// Group is a kind of finding: those with the same rule, field and responsible files.
type Group struct {
	Rule     string        `json:"rule,omitempty"`
	Domain   result.Domain `json:"domain"`
	Field    string        `json:"field,omitempty"`
	Files    []string      `json:"files,omitempty"`
	Scenario string        `json:"scenario,omitempty"` // name of its scenario file
	Block    string        `json:"block,omitempty"`
	Count    int           `json:"count"`
	First    string        `json:"first"`   // first line of the first finding's text
	Command  string        `json:"command"` // reproduces the first finding

	first *found
}

// key identifies the group in reports of other runs.
func (g *Group) key() string {
	return strings.Join([]string{g.Rule, string(g.Domain), g.Field, strings.Join(g.Files, " "), g.Scenario, g.Block},
		"\x00")
}

// found is a finding with its place on the page.
type found struct {
	*result.Finding
	N     int // number of the finding on the page, from 0
	Run   *Run
	index int // index in the run's findings
	Group int
}

// Again returns the shortest known command line that repeats the run: with the shrunk input, if there is one.
func (f *found) Again() string {
	if o := f.Run.Object; o.Shrunk != nil && o.Reproduce != "" {
		return o.Reproduce
	}
	return f.Command
}

// group returns a group with this finding alone.
func (f *found) group() Group {
	g := Group{Rule: f.Rule, Domain: f.Domain, Field: f.Field, Files: f.Files, Count: 1, First: f.Head(),
		Command: f.Command, first: f}
	if f.Block != nil {
		g.Block = f.Block.Name
	}
	g.Scenario, _, _ = strings.Cut(f.Scenario, ":")
	return g
}

// findings lists the findings of all runs, and their groups in order of their first finding.
func findings(runs []*Run) (list []*found, groups []Group) {
	known := map[string]int{}
	for _, r := range runs {
		for i := range r.Object.Findings {
			f := &found{Finding: &r.Object.Findings[i], N: len(list), Run: r, index: i}
			g := f.group()
			n, ok := known[g.key()]
			if !ok {
				n = len(groups)
				known[g.key()] = n
				groups = append(groups, g)
			} else {
				groups[n].Count++
			}
			f.Group = n
			list = append(list, f)
		}
	}
	return list, groups
}

// absent returns the groups of a that are not in b.
func absent(a, b []Group) (list []Group) {
	for i := range a {
		if !slices.ContainsFunc(b, func(g Group) bool { return g.key() == a[i].key() }) {
			list = append(list, a[i])
		}
	}
	return list
}

// Sample returns the first finding of the group.
func (g Group) Sample() *found { return g.first }
