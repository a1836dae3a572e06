package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"nictwin/rtlbridge/protocol"
)

// LaneName returns the name that Widen gives to lane i of a stream: the first lane keeps the stream's own.
func LaneName(stream string, i int) string {
	if i == 0 {
		return stream
	}
	return stream + strconv.Itoa(i)
}

// Widen returns the manifest of the same device built with n lanes: a parameter of the top module is set to n,
// and each of the named streams becomes n, the slices of flattened vectors. Lanes after the first are appended
// to the list of streams. The manifest itself does not change. A manifest that already has all those lanes is
// returned unchanged.
func (m *Manifest) Widen(parameter string, n int, streams ...string) (*Manifest, error) {
	if n == 1 || slices.IndexFunc(streams, func(s string) bool { return m.stream(LaneName(s, n-1)) < 0 }) < 0 {
		return m, nil
	}
	if n < 1 || n > protocol.MaxStreams {
		return nil, m.Errorf("streams", "%d lanes: needs 1 to %d", n, protocol.MaxStreams)
	}
	w := *m
	w.Parameters, w.Streams, w.lines = maps.Clone(m.Parameters), slices.Clone(m.Streams), maps.Clone(m.lines)
	var errs []error
	if _, ok := m.Parameters[parameter]; !ok {
		errs = append(errs, m.Errorf("parameters", "parameter %s is not in the manifest: no build with %d lanes can "+
			"be made of it", parameter, n))
	} else {
		w.Parameters[parameter] = strconv.Itoa(n)
	}
	for _, s := range streams {
		errs = append(errs, w.split(s, n))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &w, nil
}

// With returns the manifest of the same device built with a parameter of the top module set to a value. The
// manifest itself does not change; one that already has the value is returned unchanged. A parameter that it
// does not have is refused.
func (m *Manifest) With(parameter string, value int) (*Manifest, error) {
	have, ok := m.Parameters[parameter]
	if !ok {
		return nil, m.Errorf("parameters", "parameter %s is not in the manifest: no build with %s %d can be made of it",
			parameter, parameter, value)
	}
	if have == strconv.Itoa(value) {
		return m, nil
	}
	w := *m
	w.Parameters = maps.Clone(m.Parameters)
	w.Parameters[parameter] = strconv.Itoa(value)
	return &w, nil
}

// stream returns the index of a stream, -1 if there is none of that name.
func (m *Manifest) stream(name string) int {
	return slices.IndexFunc(m.Streams, func(s Stream) bool { return s.Name == name })
}

// other returns the index of a stream that another one names, -1 if it names none.
func (m *Manifest) other(name string) int {
	if name == "" {
		return -1
	}
	return m.stream(name)
}

// split turns a stream into n lanes.
func (m *Manifest) split(name string, n int) error {
	at := m.stream(name)
	if at < 0 {
		return m.Errorf("streams", "no stream %s, of which %d lanes are wanted", name, n)
	}
	if have := m.Streams[at].lanes(); have != 1 {
		return m.Errorf(fmt.Sprintf("streams[%d].lanes", at), "stream %s is one of %d lanes already, %d are wanted",
			name, have, n)
	}
	m.Streams[at].Lanes = n
	for i := 1; i < n; i++ {
		s := m.Streams[at]
		s.Name, s.Lane = LaneName(name, i), i
		if m.stream(s.Name) >= 0 {
			return m.Errorf("streams", "stream %s is there already, without the other lanes of %s", s.Name, name)
		}
		m.lines[fmt.Sprintf("streams[%d]", len(m.Streams))] = m.Line(fmt.Sprintf("streams[%d]", at))
		m.Streams = append(m.Streams, s)
	}
	return nil
}

// WithParameters returns the manifest of the same device built with these values of parameters of the top
// module. The manifest itself does not change. Values that no parameter can have are refused.
func (m *Manifest) WithParameters(values map[string]string) (*Manifest, error) {
	w := *m
	w.Parameters = maps.Clone(m.Parameters)
	if w.Parameters == nil {
		w.Parameters = map[string]string{}
	}
	var errs []error
	for _, k := range SortedKeys(values) {
		if err := checkParameter(values[k]); err != nil {
			errs = append(errs, m.Errorf("parameters", "parameter %s: %v", k, err))
		}
		w.Parameters[k] = values[k]
	}
	return &w, errors.Join(errs...)
}
