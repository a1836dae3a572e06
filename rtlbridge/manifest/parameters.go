package manifest

import (
	"maps"
	"regexp"
	"strings"
)

// FlagParameter returns the parameter that an option sets.
func FlagParameter(f string) (name, value string, ok bool) {
	if strings.HasPrefix(f, "--") {
		f = f[1:]
	}
	def, ok := strings.CutPrefix(f, ParameterFlag)
	name, value, given := strings.Cut(def, "=")
	return name, value, ok && given
}

// parameters returns the manifest's parameters with their values; an option overrides a field.
func (m *Manifest) parameters() map[string]string {
	all := maps.Clone(m.Parameters)
	if all == nil {
		all = map[string]string{}
	}
	for _, f := range m.VerilatorFlags {
		if name, value, ok := FlagParameter(f); ok {
			all[name] = value
		}
	}
	return all
}

// Given returns the parameters of the manifest, as "NAME = VALUE".
func (m *Manifest) Given() (list []string) {
	all := m.parameters()
	for _, name := range SortedKeys(all) {
		list = append(list, name+" = "+all[name])
	}
	return list
}

// NamedIn returns the parameters of the manifest that occur in a text, with their values.
func (m *Manifest) NamedIn(text string) (list []string) {
	all := m.parameters()
	for _, name := range SortedKeys(all) {
		if Named(text, name) {
			list = append(list, name+" = "+all[name])
		}
	}
	return list
}

func Named(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}
