package place

import (
	"errors"
	"slices"

	"nictwin/models/board"
	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/stack/apps"
)

// Layout of host memory: first the stacks, then the applications. The rest is for page tables and for memory that
// belongs to the server's other socket.
const (
	HostFrom  = 256 << 20
	HostBytes = 192 << 20
)

// Layout of Arm memory: first the stack, then the applications, if their buffers lie there, and behind them page
// tables.
const (
	armBytes  = HostBytes
	armTables = 16 << 20
	armMost   = 1 << 32 // the last address that a register access of the host reaches
	armLeast  = HostFrom + armBytes + armTables
)

// Range is a range of bus addresses.
type Range struct{ Base, Bytes uint64 }

// Share returns the share of one of n users of a range, in whole pages.
func (r Range) Share(i, n int) Range {
	const page = 4096
	share := r.Bytes / uint64(n) &^ (page - 1)
	return Range{r.Base + uint64(i)*share, share}
}

// Server is a server of a board, with its card.
type Server struct {
	Spec *board.ServerSpec
	Card *board.CardSpec
}

// Of returns the range of a server's memory that is for the buffers of applications. The server has passed Check.
func (s Server) Of(p apps.Place) Range {
	switch p {
	case apps.ArmPlace:
		return Range{mem.Bus(nicspec.EndpointArm, s.armFrom()), armBytes}
	case apps.GPUPlace:
		g := &s.gpus()[0]
		return Range{g.Base, g.Bytes}
	}
	return Range{mem.Bus(nicspec.EndpointHost, HostFrom), HostBytes}
}

// ArmEnd returns the address at which the stack's Arm memory ends; behind it lie the applications' buffers, if one of
// the given places is the Arm.
func (s Server) ArmEnd(buffers ...apps.Place) uint64 {
	if slices.Contains(buffers, apps.ArmPlace) {
		return s.armFrom()
	}
	return s.Card.Endpoint.ArmBytes
}

// ArmTop returns the end of the Arm memory in front of page tables.
func (s Server) ArmTop() uint64 {
	return min(s.Card.Endpoint.ArmBytes, armMost) - min(s.Card.Endpoint.ArmBytes, armTables)
}

func (s Server) armFrom() uint64 { return s.ArmTop() - min(s.ArmTop(), armBytes) }

// gpus returns the GPUs of the server.
func (s Server) gpus() []gpu.Spec {
	switch {
	case s.Spec.Memory != nil:
		return s.Spec.Memory.GPUs
	case s.Card.Switch != nil:
		return s.Card.Switch.Host.GPUs
	case s.Card.Direct != nil:
		return s.Card.Direct.GPUs
	}
	return nil
}

// cores reports whether software of the server runs on simulated cores.
func (s Server) cores() bool {
	switch {
	case s.Spec.Memory != nil:
		return s.Spec.Memory.Host != nil
	case s.Card.Switch != nil:
		return s.Card.Switch.Host.Host != nil
	}
	return s.Card.Direct != nil && s.Card.Direct.Host != nil
}

// window reports whether the host's cores reach Arm memory.
func (s Server) window() bool { return s.Card.Switch != nil && s.Card.Switch.HostMMIO != nil }

// Check returns an error if the server cannot have the buffers of an end of a workload in the memory that the workload
// names. workload and card are the paths of the workload and of the server's card in the scenario.
func (s Server) Check(w *apps.Spec, client bool, workload, card field.Path) error {
	at := workload + ".memory"
	var errs []error
	bad := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Against(field.Errorf(at, format, a...), "board"))
		}
	}
	switch w.Memory.Of(client) {
	case apps.GPUPlace:
		bad(len(s.gpus()) > 0, ": server %s has no GPU: want %s, or gpus behind its host's root", s.Spec.Name,
			apps.HostPlace)
	case apps.ArmPlace:
		bad(s.Card.Direct == nil, ": %s: server %s has a plain NIC, without Arm memory: want another memory, or a "+
			"card "+
			"with a switch", apps.ArmPlace, s.Spec.Name)
		bad(w.Kind != apps.Ring, ": %s: cores of the host cannot poll a ring there: want another memory, or another %v",
			apps.ArmPlace, workload+".kind")
		bad(!client || !w.Inline, ": %s: cores of the host read the bytes of inline requests: want another memory, or "+
			"%v false", apps.ArmPlace, workload+".inline")
		bad(!client || !w.LowLatency, ": %s: cores of the host read the bytes of low-latency messages: want another "+
			"memory, or %v false", apps.ArmPlace, workload+".low_latency")
		bad(w.Payload == apps.Reused || s.window() || !s.cores(), ": %s: the board gives cores of server %s no way "+
			"to Arm "+
			"memory: want %v %s, or switch.host_mmio on its card", apps.ArmPlace, s.Spec.Name,
			workload+".payload", apps.Reused)
		if n := s.Card.Endpoint.ArmBytes; n < armLeast {
			errs = append(errs, field.Against(field.Errorf(card+"."+board.BytesField(nicspec.EndpointArm),
				"%d: want %d or more: applications take %d behind the stack", n, armLeast, armBytes), at))
		}
	}
	return errors.Join(errs...)
}

// Access bounds the time in which an application's core reads or writes n bytes of its buffers and nothing else
// happens; 0 unless firmware takes part.
func (s Server) Access(p apps.Place, n int) simcore.Ps {
	if p != apps.ArmPlace || !s.window() || !s.cores() {
		return 0
	}
	x := s.Card.Switch.HostMMIO
	return simcore.Ps(n/wordBytes+2) * (x.Service + 2*x.Latency)
}
