package workload

import (
	"errors"
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/stack/apps"
)

// List is the workloads of a scenario, which run side by side.
type List []*Spec

// Label returns the name of a workload or, without one, its index; empty if it is the only one.
func (l List) Label(i int) string {
	switch {
	case len(l) == 1:
		return ""
	case l[i].Name != "":
		return l[i].Name
	}
	return fmt.Sprint(i)
}

// Seeded returns the workload's spec for package apps. Each workload of a list has contents of its own, even if their
// seeds are equal, so that a message of another workload does not pass for one of its own.
func (l List) Seeded(i int) apps.Spec {
	const step = 0x9e37_79b9_7f4a_7c15 // golden ratio: sets the workloads' seeds far apart
	s := l[i].Spec
	s.Seed += uint64(i) * step
	return s
}

// Applications returns the number of applications on a server.
func (l List) Applications(server int) (n int) {
	for _, s := range l {
		n += s.Applications(server)
	}
	return n
}

// Messages returns the largest number of messages that all workloads can have, answers included.
func (l List) Messages() (n int) {
	for _, s := range l {
		n += s.Messages() * s.MessagesPerRequest()
	}
	return n
}

// BytesInFlight returns an upper bound on the message bytes that the applications have in flight.
func (l List) BytesInFlight() (n int) {
	for _, s := range l {
		n += s.BytesInFlight()
	}
	return n
}

// Serves reports whether handlers on a server's card answer requests of a workload.
func (l List) Serves(server int) bool {
	for _, s := range l {
		if s.Served() && s.Serves(server) {
			return true
		}
	}
	return false
}

// LastPhase returns the time at which the last phase begins or ends.
func (l List) LastPhase() (t simcore.Ps) {
	for _, s := range l {
		t = max(t, simcore.Ps(s.Begin))
		if s.End != nil {
			t = max(t, simcore.Ps(*s.End))
		}
	}
	return t
}

// Validate returns every error of the list on a board with a number of servers, each a field.Error. path is the field
// of a workload.
func (l List) Validate(servers int, path func(i int) field.Path) error {
	var errs []error
	names := map[string]int{}
	for i, s := range l {
		errs = append(errs, field.Under(path(i), s.Validate(servers)))
		if s.Name == "" {
			continue
		}
		if first, twice := names[s.Name]; twice {
			errs = append(errs, field.Errorf(path(i)+".name", "%q: %v has that name already: want another", s.Name,
				path(first)))
		} else {
			names[s.Name] = i
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	n := 0
	for _, s := range l {
		n += s.Messages()
	}
	if n > apps.MaxMessages {
		return field.Errorf(path(0)+".count", "%d: the workloads make %d messages between all their servers, answers "+
			"not counted: want at most %d", l[0].Count, n, apps.MaxMessages)
	}
	return l.validateRaw(servers, path)
}

// validateRaw checks that the frames of transport raw of every server go to one application.
func (l List) validateRaw(servers int, path func(i int) field.Path) error {
	for server := range servers {
		n := 0
		for i, s := range l {
			if s.Transport != apps.Raw {
				continue
			}
			if n += s.Applications(server); n > 1 {
				return field.Errorf(path(i)+".transport", "%s: frames go to one application of a server, and server "+
					"%d would have %d: want one pair of servers", s.Transport, server, n)
			}
		}
	}
	return nil
}
