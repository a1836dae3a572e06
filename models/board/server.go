package board

import (
	"errors"
	"fmt"

	"nictwin/models/simcore"
)

// ServerSpec configures a server.
type ServerSpec struct {
	Name  string     `yaml:"name"`
	Cards []CardSpec `yaml:"cards"`
}

// Validate returns every error of the spec, each with the path of its field.
func (s *ServerSpec) Validate() error {
	var errs []error
	if !nameForm.MatchString(s.Name) {
		errs = append(errs, fmt.Errorf("name is %q: want %s", s.Name, wantName))
	}
	if len(s.Cards) == 0 {
		errs = append(errs, errors.New("cards is empty: want one or more"))
	}
	names := map[string]int{}
	for i := range s.Cards {
		c := &s.Cards[i]
		errs = append(errs, c.Validate(fmt.Sprintf("cards[%d].", i)))
		if before, twice := names[c.Name]; twice {
			errs = append(errs, fmt.Errorf("cards[%d].name is %q: cards[%d] has that name already", i, c.Name, before))
		}
		names[c.Name] = i
	}
	return errors.Join(errs...)
}

// Server is a machine with its cards.
type Server struct {
	Name  string
	Cards []*Card
}

// NewServer puts a server together. The factories fill the slots, in the order of the cards. The caller must Close it.
func NewServer(e *simcore.Engine, p *Pools, s ServerSpec, factories ...Factory) (*Server, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("server %s: %w", s.Name, err)
	}
	if len(factories) != len(s.Cards) {
		return nil, fmt.Errorf("server %s: %d factories for %d cards", s.Name, len(factories), len(s.Cards))
	}
	v := &Server{Name: s.Name}
	for i, c := range s.Cards {
		c.Name = s.Name + "." + c.Name
		card, err := NewCard(e, p, c, factories[i])
		if err != nil {
			return nil, errors.Join(err, v.Close())
		}
		v.Cards = append(v.Cards, card)
	}
	return v, nil
}

// Close ends what stands in the slots.
func (v *Server) Close() error {
	var errs []error
	for _, c := range v.Cards {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
