package annotate

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"

	"nictwin/scenarios/observe/result"
)

// shown is the maximum number of findings that are written: GitHub shows no more errors of a step.
const shown = 10

// GitHub writes a workflow command for each finding, and one for the error of a run without a verdict.
func GitHub(w io.Writer, tree Tree, o *result.Object) error {
	var text strings.Builder
	for i := range o.Findings[:min(shown, len(o.Findings))] {
		f := &o.Findings[i]
		at := ""
		if p, ok := tree.placeOf(f); ok {
			at = fmt.Sprintf("file=%s,line=%d,", property(p.file), p.line)
		}
		fmt.Fprintf(&text, "::error %stitle=%s::%s\n", at, property(title(o, f)),
			message(f.Head()+"\nreproduce: "+cmp.Or(f.Command, o.Reproduce)))
	}
	if o.Error != "" {
		fmt.Fprintf(&text, "::error title=%s::%s\n", property("nictwin "+o.Command+": "+o.Result), message(o.Error))
	}
	for _, s := range o.Warnings[:min(shown, len(o.Warnings))] {
		fmt.Fprintf(&text, "::warning title=%s::%s\n", property("nictwin "+o.Command), message(s))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// title names a finding in a few words.
func title(o *result.Object, f *result.Finding) string {
	what := strings.TrimSpace(cmp.Or(f.Rule, string(f.Domain)) + " " + f.Field)
	return "nictwin " + o.Command + ": " + what
}

var messages = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

var inProperties = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")

// message escapes the text of a workflow command.
func message(s string) string { return messages.Replace(printable(s)) }

// property escapes a property of a workflow command.
func property(s string) string { return inProperties.Replace(printable(s)) }

// printable replaces control characters, except line breaks and tabs.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// Summary writes the run as Markdown for the page of a step.
func Summary(w io.Writer, o *result.Object) error {
	var text strings.Builder
	code := func(s string) string {
		return "<code>" + html.EscapeString(strings.ReplaceAll(printable(s), "\n", " ")) + "</code>"
	}
	mark := "✅"
	if o.Result != result.Pass.String() {
		mark = "❌"
	}
	fmt.Fprintf(&text, "### %s nictwin %s: %s\n\n", mark, html.EscapeString(o.Command), html.EscapeString(o.Result))
	fmt.Fprintf(&text, "| | |\n|---|---|\n| checked | %d |\n| mismatches | %d |\n| seed | %d |\n", o.Checked,
		o.Mismatches,
		o.Seed)
	for _, x := range [][2]string{{"digest", o.Digest}, {"build", o.Build}, {"revision", o.Revision},
		{"artifacts", o.Artifacts}, {"reproduce", o.Reproduce}} {
		if x[1] != "" {
			fmt.Fprintf(&text, "| %s | %s |\n", x[0], strings.ReplaceAll(code(x[1]), "|", "&#124;"))
		}
	}
	if o.Error != "" {
		fmt.Fprintf(&text, "\n%s\n", code(o.Error))
	}
	if len(o.Findings) > 0 {
		text.WriteString("\n")
	}
	for i := range o.Findings[:min(shown, len(o.Findings))] {
		fmt.Fprintf(&text, "- %s\n", code(o.Findings[i].Head()))
	}
	if more := len(o.Findings) - shown; more > 0 {
		fmt.Fprintf(&text, "- and %d more\n", more)
	}
	text.WriteString("\n")
	_, err := io.WriteString(w, text.String())
	return err
}
