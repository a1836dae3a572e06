//go:build akitaview

package akitaview

import (
	"context"
	"errors"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

const built = true

// Viewer opens a run to Akita's tools.
type Viewer struct {
	monitor *monitor // nil: the monitor was not requested
	trace   *trace   // nil: no trace was requested
	known   map[sim.Component]bool
}

// Open opens the run of an engine, before it begins. When ctx ends, a run that the monitor has paused continues.
func Open(ctx context.Context, o Options, e *simcore.Engine) (*Viewer, error) {
	v := &Viewer{known: map[sim.Component]bool{}}
	if err := o.Validate(); err != nil {
		return v, err
	}
	if !o.Wanted() {
		return v, nil
	}
	var err error
	if o.Trace != "" {
		if v.trace, err = newTrace(o.Trace, e); err != nil {
			return v, err
		}
	}
	if o.Monitor != 0 {
		if v.monitor, err = newMonitor(ctx, o.Monitor, e); err != nil {
			return v, errors.Join(err, v.Close())
		}
	}
	e.AcceptHook(v)
	return v, nil
}

// Close closes what was opened; the trace is then complete. Akita's server keeps running but refuses every request.
func (v *Viewer) Close() error {
	if v.monitor != nil {
		v.monitor.end()
	}
	if v.trace != nil {
		return v.trace.end()
	}
	return nil
}

// Func implements sim.Hook for the engine: it finds components by their events.
func (v *Viewer) Func(ctx sim.HookCtx) {
	if ctx.Pos != sim.HookPosBeforeEvent {
		return
	}
	if c, ok := ctx.Item.(sim.Event).Handler().(sim.Component); ok {
		v.see(c)
	}
}

// see registers a component with monitor and trace when its first event or message is seen.
func (v *Viewer) see(c sim.Component) {
	if c == nil || v.known[c] {
		return
	}
	v.known[c] = true
	if v.monitor != nil {
		v.monitor.add(c)
	}
	for _, p := range c.Ports() {
		p.AcceptHook(portHook{v})
	}
}

// portHook records the messages that pass a port.
type portHook struct{ v *Viewer }

// Func implements sim.Hook.
func (h portHook) Func(ctx sim.HookCtx) {
	msg, ok := ctx.Item.(sim.Msg)
	if !ok {
		return
	}
	for _, p := range []sim.Port{msg.Meta().Src, msg.Meta().Dst} {
		if p != nil {
			h.v.see(p.Component())
		}
	}
	if h.v.trace != nil {
		h.v.trace.passed(ctx.Pos, msg)
	}
}
