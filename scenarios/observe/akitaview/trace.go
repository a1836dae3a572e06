//go:build akitaview

package akitaview

import (
	"fmt"
	"strings"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/sarchlab/akita/v3/tracing"

	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// trace writes tasks to a SQLite file.
type trace struct {
	engine *simcore.Engine
	file   string
	to     *tracing.SQLiteTraceWriter
	last   int
	ways   map[sim.Msg]tracing.Task // tasks of kind `way`: messages sent and not yet received
	waits  map[sim.Msg]tracing.Task // tasks of kind `wait`: messages received and not yet taken out of the port
	err    error
}

// newTrace creates the file.
func newTrace(file string, e *simcore.Engine) (t *trace, err error) {
	t = &trace{
		engine: e, file: file, to: tracing.NewSQLiteTraceWriter(strings.TrimSuffix(file, suffix)),
		ways: map[sim.Msg]tracing.Task{}, waits: map[sim.Msg]tracing.Task{},
	}
	if err := t.try(func() { t.to.Init() }); err != nil {
		return nil, err
	}
	t.to.SetMaxOpenConns(1) // a transaction begins, is filled and ends in separate calls, which must share a connection
	return t, nil
}

// try calls f, which uses Akita's writer, and turns a panic of it into an error.
func (t *trace) try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("--akita-trace %s: %v", t.file, r)
		}
	}()
	f()
	return nil
}

// passed records that a message was sent, received or retrieved at a port.
func (t *trace) passed(pos *sim.HookPos, m sim.Msg) {
	switch pos {
	case sim.HookPosPortMsgSend:
		if _, come := t.waits[m]; come {
			return // the component forwards a message that it received: the message's task continues
		}
		t.sent(m)
	case sim.HookPosPortMsgRecvd:
		if _, known := t.ways[m]; !known {
			t.sent(m)
		}
		way := t.ways[m]
		delete(t.ways, m)
		now := t.engine.Now()
		if s, ok := m.(simcore.Timed); ok {
			now = max(now, s.Stamp().Arrive)
		}
		way.EndTime = now.Sec()
		t.write(way)
		t.waits[m] = tracing.Task{
			ID: t.id(), ParentID: way.ID, Kind: "wait", What: way.What, Where: m.Meta().Dst.Name(),
			StartTime: way.EndTime,
		}
	case sim.HookPosPortMsgRetrieve:
		wait, known := t.waits[m]
		if !known {
			return // the message was received before the viewer saw its port
		}
		delete(t.waits, m)
		wait.EndTime = max(wait.StartTime, t.engine.Now().Sec())
		t.write(wait)
	}
}

// sent begins the task of a message.
func (t *trace) sent(m sim.Msg) {
	now := t.engine.Now()
	if s, ok := m.(simcore.Timed); ok {
		now = max(now, s.Stamp().Depart)
	}
	where := "Unknown"
	if src := m.Meta().Src; src != nil {
		where = src.Name()
	}
	t.ways[m] = tracing.Task{ID: t.id(), Kind: "way", What: what(m), Where: where, StartTime: now.Sec()}
}

func (t *trace) id() string {
	t.last++
	return fmt.Sprint(t.last)
}

// what returns the kind of a message: "frame", or the kind of a TLP.
func what(m sim.Msg) string {
	switch m := m.(type) {
	case *msg.TLP:
		if h, err := m.Header(); err == nil {
			return h.Kind.String()
		}
		return "TLP"
	case *msg.Frame:
		return "frame"
	}
	return fmt.Sprintf("%T", m)
}

func (t *trace) write(task tracing.Task) {
	if t.err == nil {
		t.err = t.try(func() { t.to.Write(task) })
	}
}

// end writes the open tasks and closes the file. It drops tasks of messages still in flight.
func (t *trace) end() error {
	if t.err == nil {
		t.err = t.try(t.to.Flush)
	}
	if err := t.to.Close(); err != nil && t.err == nil {
		t.err = fmt.Errorf("--akita-trace %s: %w", t.file, err)
	}
	return t.err
}
