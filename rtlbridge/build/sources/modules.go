package sources

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"nictwin/rtlbridge/manifest"
)

var aModule = regexp.MustCompile(`(?m)^[ \t]*module[ \t]+(?:(?:automatic|static)[ \t]+)?([A-Za-z_][A-Za-z0-9_$]*)`)

// maxModules is how many modules a message names.
const maxModules = 12

// ModuleList names the modules that stand in the sources, as far as a look at their text tells.
func (s *Set) ModuleList() string {
	names := manifest.SortedKeys(s.ModuleNames())
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > maxModules:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxModules], ", "), n-maxModules)
	}
	return strings.Join(names, ", ")
}

// ModuleNames are the modules that stand in the sources, as far as a look at their text tells, and others.
func (s *Set) ModuleNames(others ...string) map[string]bool {
	names := map[string]bool{}
	for _, name := range others {
		names[name] = true
	}
	for _, path := range s.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has been read before
		}
		for _, found := range aModule.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
	}
	return names
}
