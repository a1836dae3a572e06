package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String formats a bundle for people, in rows. Further lines of a text are marked, so that no text from the bundle
// looks like a row of its own.
func (b *Bundle) String() string {
	var s strings.Builder
	i := &b.Info
	row := func(name, format string, a ...any) {
		text := strings.TrimRight(fmt.Sprintf(format, a...), "\n")
		fmt.Fprintf(&s, "%-12s %s\n", name, strings.ReplaceAll(text, "\n", "\n             | "))
	}
	row("command", "%s", i.Command)
	row("flags", "%s", strings.Join(i.Flags, " "))
	for _, x := range i.Inputs {
		row(string(x.Role), "%s, %d bytes", x.Name, len(b.Files[x.Name]))
	}
	if d := i.DUT; d != nil {
		row("device", "%s, manifest %s, build %s", d.Name, short(d.Manifest), short(d.Build))
	}
	row("revision", "%s", known(i.Revision))
	row("seed", "%d", i.Seed)
	if i.Reference {
		row("judged by", "a reference in Go, which is not in it: give its folder by --ref")
	}
	if len(i.Shrunk) > 0 {
		row("shrunk", "to %s, from %s", sizes(i.Shrunk), sizes(i.Original))
	} else if len(i.Original) > 0 {
		row("input", "%s", sizes(i.Original))
	}
	row("result", "%s", i.Result)
	if i.Finding != nil {
		row("finding", "%s", i.Finding.Text)
	}
	if i.Error != "" {
		row("error", "%s", i.Error)
	}
	rtl := 0
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		switch {
		case strings.HasPrefix(name, rtlDir):
			rtl++
		case !strings.HasPrefix(name, inputsDir):
			row("file", "%s, %d bytes", name, len(b.Files[name]))
		}
	}
	if rtl > 0 {
		row("RTL", "%d files in %s", rtl, rtlDir)
	}
	for _, text := range b.Remarks {
		row("warning", "%s", text)
	}
	return s.String()
}

// short returns the beginning of a hash.
func short(hash string) string {
	const digits = 16
	return known(hash[:min(len(hash), digits)])
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func sizes(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(parts, ", ")
}
