package workload

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/specfile"
	"nictwin/stack/apps"
)

// MaxServers is the largest number of servers.
const MaxServers = 16

// MaxApplications is the largest number of applications of a server.
const MaxApplications = 16

// Spec is a workload of a scenario file.
type Spec struct {
	Name  string         `yaml:"name"`  // in findings and tables; empty: the index in the list
	From  Servers        `yaml:"from"`  // the first server of each pair: its clients, unless both_ways
	To    Servers        `yaml:"to"`    // the second server of each pair
	Begin quantity.Time  `yaml:"begin"` // time after the start of the traffic
	End   *quantity.Time `yaml:"end"`   // when clients stop posting; nil: after `count` messages

	apps.Spec `yaml:",inline"`
}

var _ specfile.Defaulter = (*Spec)(nil)

// SetDefaults sets the defaults of package apps, from server 0 to server 1 (specfile.Defaulter).
func (s *Spec) SetDefaults() { *s = Spec{From: Servers{0}, To: Servers{1}, Spec: apps.DefaultSpec()} }

// EndsBefore reports whether clients stop posting before a time, though they may have requests left.
func (s *Spec) EndsBefore(t quantity.Time) bool { return s.End != nil && *s.End < t }

// Servers lists servers by index. A file may give a single one as a number.
type Servers []int

var _ specfile.WordDecoder = (*Servers)(nil)

// DecodeWord reads a single server (specfile.WordDecoder).
func (s *Servers) DecodeWord(word string) error {
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil {
		return fmt.Errorf("%s: want the index of a server, or a list of indices", specfile.Shown(word))
	}
	*s = Servers{int(n)}
	return nil
}

// Pair names two servers: that of the clients, and the one they talk to.
type Pair [2]int

// Pairs returns the pairs of servers: each of From with every one of To.
func (s *Spec) Pairs() (all []Pair) {
	for _, a := range s.From {
		for _, b := range s.To {
			all = append(all, Pair{a, b})
		}
	}
	return all
}

// Messages returns the number of messages that all clients send at most, not counting answers.
func (s *Spec) Messages() int { return len(s.From) * len(s.To) * s.Spec.Messages() }

// BytesInFlight returns an upper bound on the message bytes that the applications have in flight.
func (s *Spec) BytesInFlight() int { return len(s.From) * len(s.To) * s.Spec.BytesInFlight() }

// Serves reports whether clients of the workload send requests to a server.
func (s *Spec) Serves(server int) bool {
	return slices.Contains(s.To, server) || s.BothWays && slices.Contains(s.From, server)
}

// Applications returns the number of the workload's applications on a server.
func (s *Spec) Applications(server int) (n int) {
	for _, p := range s.Pairs() {
		if p[0] == server || p[1] == server {
			n += s.Processes
		}
	}
	return n
}

// QueuePairsOn returns the number of the workload's queue pairs on a server.
func (s *Spec) QueuePairsOn(server int) int {
	n := s.Applications(server) * s.QueuePairs
	if s.BothWays {
		n *= 2
	}
	return n
}

// maxPhase bounds the times of phases.
const maxPhase = quantity.Time(1000e12)

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// Validate returns every error of the spec on a board with a number of servers, each a field.Error.
func (s *Spec) Validate(servers int) error {
	errs := []error{s.Spec.Validate(), s.validateServers(servers)}
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(s.Name == "" || nameForm.MatchString(s.Name), "name", "%q: want a letter, and up to 31 letters, digits, - and "+
		"_ behind it", s.Name)
	bad(s.Begin >= 0 && s.Begin <= maxPhase, "begin", "%v: want 0 to %v", s.Begin, maxPhase)
	bad(s.End == nil || *s.End > s.Begin && *s.End <= maxPhase, "end", "%v: want a time behind %v, %v, of %v at most",
		s.End, field.Path("begin"), s.Begin, maxPhase)
	return errors.Join(errs...)
}

// validateServers checks the servers of the workload.
func (s *Spec) validateServers(servers int) error {
	var errs []error
	for _, x := range []struct {
		name string
		list Servers
	}{{"from", s.From}, {"to", s.To}} {
		if len(x.list) == 0 {
			errs = append(errs, field.Errorf(field.Path(x.name), ": none: want a server, or a list of them"))
		}
		for i, n := range x.list {
			at := field.Path(fmt.Sprintf("%s[%d]", x.name, i))
			switch first := slices.Index(x.list, n); {
			case n < 0 || n >= servers:
				errs = append(errs, field.Errorf(at, "%d: the board has %d servers: want 0 to %d", n, servers,
					servers-1))
			case first < i:
				errs = append(errs, field.Errorf(at, "%d a second time: %s[%d] has it", n, x.name, first))
			case x.name == "to" && slices.Contains(s.From, n):
				errs = append(errs, field.Errorf(at, "%d: %v has it, too, and a server does not talk to itself: want "+
					"other servers", n, field.Path("from")))
			}
		}
	}
	return errors.Join(errs...)
}
