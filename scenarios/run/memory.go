package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/load"
	"nictwin/scenarios/run/place"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/driver"
)

// Stacks have the first part of host memory, in front of the applications.
const (
	stackFrom  = 1 << 20
	stackBytes = place.HostFrom - stackFrom
)

// validateMemory checks that a server's memories have room for stacks and applications.
func (s *Spec) validateMemory(server int, v *board.ServerSpec) error {
	const least = place.HostFrom + place.HostBytes
	if n := v.Cards[0].Endpoint.HostBytes; n < least {
		return field.Errorf(s.cardPath(server)+"."+board.BytesField(nicspec.EndpointHost),
			"%d: want %d or more: stacks take the first %d, applications %d behind them",
			n, least, place.HostFrom, place.HostBytes)
	}
	var errs []error
	for i, w := range s.AllWorkloads() {
		for _, client := range rolesOf(w, server) {
			errs = append(errs, placed(v).Check(&w.Spec, client, s.workloadPath(i), s.cardPath(server)))
		}
	}
	return errors.Join(errs...)
}

// placed returns the description of a server that package place needs.
func placed(v *board.ServerSpec) place.Server { return place.Server{Spec: v, Card: &v.Cards[0]} }

// rolesOf returns an entry for each end that a workload has on a server: true for clients, false for servers.
func rolesOf(w *workload.Spec, server int) (list []bool) {
	from, to := slices.Contains(w.From, server), slices.Contains(w.To, server)
	if from || to && w.BothWays {
		list = append(list, true)
	}
	if to || from && w.BothWays {
		list = append(list, false)
	}
	return list
}

// placesOf returns the memories with the buffers of a server's applications, each once.
func (s *Spec) placesOf(server int) (list []apps.Place) {
	for _, w := range s.AllWorkloads() {
		for _, client := range rolesOf(w, server) {
			if p := w.Memory.Of(client); !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// rawPath returns the path of the transport of applications that take frames which are no RoCE packets; empty: none do.
func (s *Spec) rawPath() field.Path {
	for i, w := range s.AllWorkloads() {
		if w.Transport == apps.Raw {
			return s.workloadPath(i) + ".transport"
		}
	}
	return ""
}

// loaded returns the servers of a board as their loads see them.
func (s *Spec) loaded(servers []board.ServerSpec) (list []load.Server) {
	for i := range servers {
		v := &servers[i]
		list = append(list, load.Server{Server: placed(v), Places: s.placesOf(i), Busy: func(endpoint, core int) bool {
			if s.overUDP() {
				return s.busyNet(i, servers, endpoint, core)
			}
			return s.busy(i, &v.Cards[0], endpoint, core)
		}})
	}
	return list
}

// busy reports whether stack or applications of a server use a core of the host's first socket, or of the Arm.
func (s *Spec) busy(server int, c *board.CardSpec, endpoint, core int) bool {
	x := s.stack(server)
	if endpoint == nicspec.EndpointHost || x.Kind != StackFlexiNS {
		return endpoint == nicspec.EndpointHost && (core < s.AllWorkloads().Applications(server) ||
			x.watchesHost() && hostOf(c) != nil && core == hostOf(c).CPU.Cores-1)
	}
	last := c.Switch.Arm.Host.CPU.Cores - 1
	return core < x.FlexiNS.DataCores || core == last ||
		core >= last-x.FlexiNS.EngineCores && s.AllWorkloads().Serves(server)
}

// CheckCaptures reads the captures of the background once. It returns every error, with its line in the scenario.
func (c *Case) CheckCaptures(ctx context.Context) error {
	s, err := c.Background.Open(ctx, c.beside)
	if err = c.Locate(err); err != nil {
		err = &UsageError{err}
	}
	return errors.Join(err, s.Close())
}

// openBackground opens the captures of the background.
func (w *world) openBackground() (err error) {
	if w.background, err = w.c.Background.Open(w.ctx, w.c.beside); err != nil {
		return &UsageError{w.c.Locate(err)}
	}
	return nil
}

// besides starts the loads and captures that are played beside the traffic, when the traffic starts.
func (w *world) besides() error {
	now := w.engine.Now()
	return errors.Join(w.loads.Begin(now), w.background.Begin(now, w.rack, &w.spec))
}

// endBesides ends these loads and captures when the traffic ends.
func (w *world) endBesides() error {
	w.background.End(w.engine.Now())
	return w.loads.End(w.engine.Now())
}

// openLoads prepares the loads of the case, which begin with the traffic.
func (w *world) openLoads() (err error) {
	if w.loads, err = w.c.Load.Open(w.rack, w.c.loaded(w.spec.Servers)); err != nil {
		return err
	}
	warmed, err := w.loads.Warm()
	if err != nil {
		return err
	}
	return w.await("the buffers of loads to be in the caches", warmed)
}

// access returns an upper bound of the time that the applications' cores take to read or write the messages of one
// poll, in the memory that the messages lie in.
func (s *Spec) access(rack *board.RackSpec) (t simcore.Ps) {
	const polled = 32 // messages taken in one poll, plus some that are posted
	for _, w := range s.AllWorkloads() {
		if w.Payload == apps.Reused {
			continue
		}
		for i := range rack.Servers {
			for _, client := range rolesOf(w, i) {
				one := placed(&rack.Servers[i]).Access(w.Memory.Of(client), w.Largest())
				n := polled + w.Depth*w.QueuePairs
				if !w.HandedOver() { // then the server looks at all messages in the end
					n = max(n, 2*w.Count*w.QueuePairs)
				}
				t = max(t, times(one, n))
			}
		}
	}
	return t
}

// cardPath returns the path of the field with a server's card.
func (s *Spec) cardPath(server int) field.Path {
	if n := len(s.Board.Servers); server >= n {
		return "board.fleet.card"
	}
	return field.Path(fmt.Sprintf("board.servers[%d].cards[0]", server))
}

// tooSmall adds, to the error of a stack that found no room in an endpoint's memory, the scenario field that sets the
// memory's size.
func (c *Case) tooSmall(server int, err error) error {
	room, ok := errors.AsType[*driver.RoomError](err)
	if !ok || room.Endpoint < 0 {
		return err
	}
	return &UsageError{c.Locate(field.Errorf(c.cardPath(server)+"."+board.BytesField(room.Endpoint),
		": want more memory for the stack: %w", err))}
}
