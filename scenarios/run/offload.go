package run

import (
	"encoding/binary"
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/flexins/node"
	"nictwin/stack/offload"
	"nictwin/stack/offload/handlers"
	"nictwin/stack/verbs"
)

// offloaded implements apps.Engine with the offload engine of a node and its built-in handlers.
type offloaded struct{ node *node.Node }

// Serve starts the handler that answers the requests of a queue pair (apps.Engine).
func (o offloaded) Serve(k apps.Kind, qp verbs.QP, mr verbs.MR, requests int, done func(error)) {
	code, handler := handlers.CodeList, handlers.List
	if k == apps.BatchedRead {
		code, handler = handlers.CodeBatch, handlers.Batch
	}
	if err := o.node.RegisterOpcode(code, qp, handler); err != nil {
		done(err)
		return
	}
	if err := o.node.Expose(mr, qp); err != nil {
		done(err)
		return
	}
	o.node.Serve(qp, requests, done)
}

// Sizes of the parts of an answer, as package offload lays it out: code, status and number. The answer to a walk also
// has the number of nodes visited and whether a value follows.
const (
	answerHead = 8
	walkHead   = 8
)

// Lengths returns the lengths of request and answer (apps.Engine).
func (offloaded) Lengths(k apps.Kind, bytes int) (request, answer int) {
	if k == apps.BatchedRead {
		return handlers.BatchRequestBytes(bytes / handlers.ValueBytes), answerHead + bytes
	}
	return handlers.ListRequestBytes, answerHead + walkHead + handlers.ValueBytes
}

// Request encodes a request (apps.Engine).
func (offloaded) Request(b []byte, q *apps.Query) {
	if q.Kind == apps.BatchedRead {
		handlers.EncodeBatch(b, q.Number, q.Addrs)
		return
	}
	handlers.EncodeList(b, q.Number, q.Head, q.Key, q.MaxNodes)
}

// Answer encodes the expected answer to a request and returns its length (apps.Engine).
func (offloaded) Answer(b []byte, q *apps.Query, nodes int, value []byte) int {
	at := head(b, q, offload.OK)
	if q.Kind == apps.BatchedRead {
		return at + copy(b[at:], value)
	}
	clear(b[at:][:walkHead+handlers.ValueBytes])
	binary.LittleEndian.PutUint32(b[at:], uint32(nodes))
	if value != nil {
		binary.LittleEndian.PutUint32(b[at+4:], 1)
	}
	copy(b[at+walkHead:], value)
	return at + walkHead + handlers.ValueBytes
}

// Refusal encodes the expected answer to a request that is wrong on purpose (apps.Engine).
func (offloaded) Refusal(b []byte, q *apps.Query) int { return head(b, q, offload.Misbehaved) }

// Number returns the number of the request that an answer belongs to (apps.Engine).
func (offloaded) Number(answer []byte) (uint32, error) {
	r, err := handlers.Decode(answer)
	return r.Number, err
}

// head encodes the header of an answer.
func head(b []byte, q *apps.Query, s offload.Status) int {
	code := handlers.CodeList
	if q.Kind == apps.BatchedRead {
		code = handlers.CodeBatch
	}
	binary.LittleEndian.PutUint16(b, code)
	binary.LittleEndian.PutUint16(b[2:], uint16(s))
	binary.LittleEndian.PutUint32(b[4:], q.Number)
	return answerHead
}

// validateEngine checks that the card has cores for the offload engine, beside those for control and data.
func (s *Spec) validateEngine(server int, c *board.CardSpec) error {
	list := s.AllWorkloads()
	served := slices.IndexFunc(list, func(w *workload.Spec) bool { return w.Served() && w.Serves(server) })
	if served < 0 {
		return nil
	}
	x := s.stack(server)
	if x.Kind != StackFlexiNS {
		return field.Errorf(s.workloadPath(served)+".kind", "%s: stacks of kind %s have no offload engine: want %s",
			list[served].Kind, x.Kind, StackFlexiNS)
	}
	n, path := c.Switch.Arm.Host.CPU.Cores, fmt.Sprintf("stacks[%d].flexins.", min(server, len(s.Stacks)-1))
	if x.FlexiNS.DataCores > n-2 {
		return field.Errorf(field.Path(path+"data_cores"), "%d: the card has %d cores, and control and offload engine "+
			"have one each: want %d at most", x.FlexiNS.DataCores, n, n-2)
	}
	if most := n - 1 - x.FlexiNS.DataCores; x.FlexiNS.EngineCores > most {
		return field.Errorf(field.Path(path+"engine_cores"), "%d: the card has %d cores, one of them for control, and "+
			"%v is %d: want %d at most", x.FlexiNS.EngineCores, n, field.Path(path+"data_cores"), x.FlexiNS.DataCores,
			most)
	}
	return nil
}

// handlers checks that exactly those handlers were stopped whose requests are wrong on purpose.
func (w *world) handlers(p *Played) {
	want, got := 0, 0
	for _, l := range w.workloads {
		if x := l.Misuse; l.Served() && x != nil && x.What == apps.RemoteBounds {
			want++
		}
	}
	var texts []string
	for i, s := range w.stacks {
		o, ok := s.(offloading)
		if !ok {
			continue
		}
		list, more := o.faults()
		got += len(list) + int(more)
		for k := range list {
			texts = append(texts, fmt.Sprintf("server %s: %v", w.rack.Servers[i].Name, &list[k]))
		}
	}
	if got == want {
		return
	}
	text := fmt.Sprintf("%d handlers were stopped: expected %d", got, want)
	if len(texts) > 0 {
		text += ": " + texts[0]
	}
	p.add(result.Finding{Domain: result.Application, Field: "handlers that were stopped", Expected: fmt.Sprint(want),
		Got: fmt.Sprint(got), Text: text})
}

var _ apps.Engine = offloaded{}
