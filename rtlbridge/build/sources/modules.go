package sources

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"nictwin/rtlbridge/manifest"
)

var aModule = regexp.MustCompile(`(?m)^[ \t]*module[ \t]+(?:(?:automatic|static)[ \t]+)?([A-Za-z_][A-Za-z0-9_$]*)`)

// maxModules is the number of modules that a message names.
const maxModules = 12

// ModuleList names the modules declared in the sources, as far as their text shows.
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

// FileOf returns the file that declares a module, as far as the text of the sources shows; empty if none does.
func (s *Set) FileOf(module string) string {
	for _, path := range s.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // already read
		}
		for _, found := range aModule.FindAllSubmatch(text, -1) {
			if string(found[1]) == module {
				return path
			}
		}
	}
	return ""
}

// ModuleNames returns the names of the modules declared in the sources, as far as their text shows, and the names in
// `others`.
func (s *Set) ModuleNames(others ...string) map[string]bool {
	names := map[string]bool{}
	for _, name := range others {
		names[name] = true
	}
	for _, path := range s.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // already read
		}
		for _, found := range aModule.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
	}
	return names
}
