package hostnet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"nictwin/models/inject"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	hostapps "nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// Run is the applications of one workload, the counterpart of apps.Run.
type Run struct {
	net      *Net
	spec     *workload.Spec
	name     string // name of the workload; empty: it is the only one
	lines    []*line
	observer apps.Observer // nil: none
	message  apps.Message  // the observer's argument, reused
}

var _ workload.Run = (*Run)(nil)

// Prepare has nothing to do: receive buffers are the stack's (workload.Run).
func (r *Run) Prepare() error { return nil }

// Prepared reports true (workload.Run).
func (r *Run) Prepared() bool { return true }

// Begin lets the clients ask (workload.Run).
func (r *Run) Begin() error {
	for _, l := range r.lines {
		l.begun, l.from = true, r.net.cfg.Now()
	}
	for _, n := range r.net.nodes {
		n.node.Start()
	}
	return nil
}

// Stop makes the clients ask no further (workload.Run).
func (r *Run) Stop() {
	for _, l := range r.lines {
		l.total = l.asked
	}
}

// Retry has nothing to do (workload.Run).
func (r *Run) Retry() {}

// Err returns nil: the stacks report errors of applications (workload.Run).
func (r *Run) Err() error { return nil }

// Progress returns a number that grows with every message taken (workload.Run).
func (r *Run) Progress() (n uint64) {
	for _, l := range r.lines {
		n += uint64(len(l.server) + len(l.client))
	}
	return n
}

// InFlight returns the requests that have not ended (workload.Run).
func (r *Run) InFlight() (n int) {
	for _, l := range r.lines {
		if n += l.asked; l.answerBytes() > 0 {
			n -= len(l.client)
		} else {
			n -= len(l.server)
		}
	}
	return n
}

// Messages returns the messages that arrived, answers included, and their bytes (workload.Run).
func (r *Run) Messages() (n int, bytes uint64) {
	for _, l := range r.lines {
		n, bytes = n+len(l.server)+len(l.client), bytes+l.bytes
	}
	return n, bytes
}

// Posted returns the messages that the flows have, answers included (workload.Run).
func (r *Run) Posted() (n int) {
	for _, l := range r.lines {
		n += l.total * r.spec.MessagesPerRequest()
	}
	return n
}

// Done reports whether everything was sent and arrived (workload.Run).
func (r *Run) Done() bool {
	for _, l := range r.lines {
		if !l.done() {
			return false
		}
	}
	return true
}

// Waiting describes what the first few unfinished flows wait for (workload.Run).
func (r *Run) Waiting() string {
	const most = 4
	var list []string
	more := 0
	for _, l := range r.lines {
		switch {
		case l.done():
		case len(list) == most:
			more++
		default:
			list = append(list, fmt.Sprintf("flow %d: %d of %d requests sent, %d taken, %d answered", l.index, l.asked,
				l.total, len(l.server), len(l.client)))
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, "; ")
}

// Findings returns flows that dropped packets as broken, or got datagrams twice or late, although the cables do not
// account for so many (workload.Run).
func (r *Run) Findings() (all []apps.Finding) {
	struck, seen := r.net.struck(), r.net.seen()
	add := func(l *line, end int, what string, n uint64, format string) {
		all = append(all, apps.Finding{Server: r.server(l, end), Flow: l.index, Client: end == 0, What: what,
			Message: -1, Text: fmt.Sprintf(format, n)})
	}
	for _, l := range r.lines {
		for i, server := range l.ends {
			n := r.net.nodes[server].node.FlowStats(l.at[i]).Broken
			if n > 0 && seen.broken > struck.broken {
				add(l, i, "broken packets", n, "%d packets had wrong lengths, checksums or headers")
			}
		}
		if l.sink == nil {
			continue
		}
		if n := l.sink.Stats().Copies; n > 0 && seen.copies > struck.copies {
			add(l, 1, "copies", n, "%d datagrams came again")
		}
		if n := l.sink.Stats().Late; n > 0 && seen.late > struck.late {
			add(l, 1, "order", n, "%d datagrams came behind later ones")
		}
	}
	return all
}

// Late reports whether the server may take requests of a flow behind later ones: because some were lost and sent again,
// or because the cables change the order.
func (r *Run) Late(flow int) bool {
	l := r.lines[flow]
	c := r.net.nodes[l.ends[0]].node.FlowStats(l.at[0]).Client
	return r.net.cfg.Cables.Reorders || c.Again > 0 || c.Asked > 0
}

// strikes counts what happened to packets on their way.
type strikes struct{ broken, copies, late uint64 }

// struck returns what the cables did on purpose.
func (n *Net) struck() (s strikes) {
	for _, c := range n.cfg.Rack.Cables {
		if c.Wire == nil {
			continue
		}
		for _, d := range []inject.Direction{inject.FromDevice, inject.ToDevice} {
			x := c.Wire.Count(d)
			s.broken += x.Corrupted
			s.copies += x.Duplicated
			s.late += x.Held
		}
	}
	if s.broken > 0 {
		s.broken += s.copies // a copy may be broken, too
	}
	return s
}

// seen returns what the flows of all workloads noticed.
func (n *Net) seen() (s strikes) {
	for _, l := range n.lines {
		for i, server := range l.ends {
			s.broken += n.nodes[server].node.FlowStats(l.at[i]).Broken
		}
		if l.sink != nil {
			x := l.sink.Stats()
			s.copies, s.late = s.copies+x.Copies, s.late+x.Late
		}
	}
	return s
}

// Finish has nothing to do: applications have checked every byte (workload.Run).
func (r *Run) Finish() error { return nil }

// Result returns the outcome of the run so far (workload.Run).
func (r *Run) Result() (*apps.Result, error) {
	res := &apps.Result{Findings: r.Findings()}
	res.Wrongs = len(res.Findings)
	sums := map[int]hash.Hash{} // by server
	for _, l := range r.lines {
		timed := r.net.cfg.Lossy && r.spec.Kind == apps.VXLAN
		res.Streams = append(res.Streams, apps.Stream{Server: r.server(l, 1), Flow: l.index, Recv: true, Loose: true,
			Timed: timed, List: l.server})
		if l.answerBytes() > 0 {
			res.Streams = append(res.Streams, apps.Stream{Server: r.server(l, 0), Flow: l.index, Client: true,
				Recv: true, Loose: true, List: l.client})
		} else {
			res.Lost += l.total - len(l.server)
		}
		if l.table == nil {
			continue
		}
		if sums[l.ends[1]] == nil {
			sums[l.ends[1]] = sha256.New()
		}
		if err := r.addTable(sums[l.ends[1]], l); err != nil {
			return nil, err
		}
	}
	res.Messages, res.Bytes = r.Messages()
	for i, v := range r.net.cfg.Rack.Servers {
		if sums[i] != nil {
			res.Memory = append(res.Memory, apps.Contents{Server: v.Name, SHA256: hex.EncodeToString(sums[i].Sum(nil))})
		}
	}
	return res, nil
}

// server names the server at an end of a flow.
func (r *Run) server(l *line, end int) string { return r.net.cfg.Rack.Servers[l.ends[end]].Name }

// addTable adds what a flow's server keeps in memory to a hash.
func (r *Run) addTable(h hash.Hash, l *line) error {
	at, n := l.table()
	b := make([]byte, n)
	if err := r.net.cfg.Rack.Servers[l.ends[1]].Cards[0].Memory.Read(at, b); err != nil {
		return err
	}
	_, _ = h.Write(b) // a hash takes everything
	return nil
}

// Close has nothing to do (workload.Run).
func (r *Run) Close(apps.Await) error { return nil }

// Flows describes the flows (workload.Run).
func (r *Run) Flows() (all []apps.Flow) {
	for _, l := range r.lines {
		f := apps.Flow{Index: l.index}
		f.Ends[0].Port, f.Ends[1].Port = l.ports()
		for i, server := range l.ends {
			f.Ends[i].Server, f.Ends[i].Name = i, r.server(l, i)
			f.Ends[i].MAC = hostbed.Address(server, r.net.cfg.V6).MAC
		}
		all = append(all, f)
	}
	return all
}

// First returns the message that begins with the payload of a datagram, and false if none does: of requests and
// datagrams, or of answers.
func (r *Run) First(answer bool) func(payload []byte) (message int, ok bool) {
	if r.spec.Kind == apps.VXLAN {
		return func(payload []byte) (int, bool) {
			n, ok := hostapps.VXLANNumber(payload)
			return int(n), ok
		}
	}
	return func(payload []byte) (int, bool) {
		h, err := rpc.Decode(payload)
		begins := h.Kind == rpc.Data && h.Index == 0
		if answer {
			begins = h.Kind == rpc.Ack && h.Bytes > 0
		}
		return int(h.Message), err == nil && begins
	}
}

// Observe makes o follow the run (workload.Run).
func (r *Run) Observe(o apps.Observer) { r.observer = o }
