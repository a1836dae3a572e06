package board

import (
	"errors"
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// ServerSpec configures a server.
type ServerSpec struct {
	Name  string     `yaml:"name"`
	Cards []CardSpec `yaml:"cards"`

	// Memory is host memory shared by all cards, instead of one memory behind each card's root;
	// nil: each card has its own.
	Memory *SharedSpec `yaml:"memory"`
}

// Validate returns every error of the spec, each a field.Error.
func (s *ServerSpec) Validate() error {
	var errs []error
	if !nameForm.MatchString(s.Name) {
		errs = append(errs, field.Errorf("name", "%q: want %s", s.Name, wantName))
	}
	if len(s.Cards) == 0 {
		errs = append(errs, field.Errorf("cards", ": none: want one or more"))
	}
	names := map[string]int{}
	for i := range s.Cards {
		c := &s.Cards[i]
		at := cardPath(i)
		errs = append(errs, field.Under(at, c.Validate()))
		if s.Memory != nil {
			errs = append(errs, field.Under(at, s.Memory.validateCard(c)))
		} else {
			errs = append(errs, field.Under(at, c.validateOwnMemory()))
		}
		if before, twice := names[c.Name]; twice {
			errs = append(errs, field.Errorf(at+".name", "%q: %s has that name already", c.Name, cardPath(before)))
		}
		names[c.Name] = i
	}
	if s.Memory != nil {
		errs = append(errs, field.Under("memory", s.Memory.validate()))
	}
	return errors.Join(errs...)
}

func cardPath(i int) field.Path { return field.Path(fmt.Sprintf("cards[%d]", i)) }

// Server is a machine with its cards.
type Server struct {
	Name  string
	Cards []*Card
}

// NewServer assembles a server. The factories fill the slots, in the order of the cards. The caller
// must Close it.
func NewServer(e *simcore.Engine, p *Pools, s ServerSpec, factories ...Factory) (*Server, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("server %s: %w", s.Name, err)
	}
	if len(factories) != len(s.Cards) {
		return nil, fmt.Errorf("server %s: %d factories for %d cards", s.Name, len(factories), len(s.Cards))
	}
	v := &Server{Name: s.Name}
	var shared *end
	if s.Memory != nil {
		var err error
		if shared, err = s.Memory.build(e, s.Name); err != nil {
			return nil, err
		}
	}
	for i, c := range s.Cards {
		c.Name = s.Name + "." + c.Name
		card, err := newCard(e, p, c, factories[i], shared)
		if err != nil {
			return nil, errors.Join(err, v.Close())
		}
		v.Cards = append(v.Cards, card)
	}
	return v, nil
}

// Close closes the devices in all slots.
func (v *Server) Close() error {
	var errs []error
	for _, c := range v.Cards {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
