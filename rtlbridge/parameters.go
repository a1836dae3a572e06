package rtlbridge

import (
	"maps"
	"regexp"
	"strings"
)

// flagParameter is the parameter that an option sets.
func flagParameter(f string) (name, value string, ok bool) {
	if strings.HasPrefix(f, "--") {
		f = f[1:]
	}
	def, ok := strings.CutPrefix(f, parameterFlag)
	name, value, given := strings.Cut(def, "=")
	return name, value, ok && given
}

// parameters are those of the manifest, with their values; an option counts after a field.
func (m *Manifest) parameters() map[string]string {
	all := maps.Clone(m.Parameters)
	if all == nil {
		all = map[string]string{}
	}
	for _, f := range m.VerilatorFlags {
		if name, value, ok := flagParameter(f); ok {
			all[name] = value
		}
	}
	return all
}

// given are the parameters of the manifest, as "NAME = VALUE".
func (m *Manifest) given() (list []string) {
	all := m.parameters()
	for _, name := range sortedKeys(all) {
		list = append(list, name+" = "+all[name])
	}
	return list
}

// namedIn are the parameters of the manifest that a text names, with their values.
func (m *Manifest) namedIn(text string) (list []string) {
	all := m.parameters()
	for _, name := range sortedKeys(all) {
		if named(text, name) {
			list = append(list, name+" = "+all[name])
		}
	}
	return list
}

func named(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}
