package hostnet

import (
	"fmt"

	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
	"nictwin/stack/ceio/manager"
)

// maxLines bounds the flows of a server that have lines in a series.
const maxLines = 16

// Counters lists what a series shows of the stack: its queues and, of CEIO, credits and packets.
func (x *Node) Counters() (list []probe.Counter) {
	level := func(picture, what string, read func() int) {
		list = append(list, probe.Counter{Picture: picture, Where: x.name, What: what, Unit: probe.Entries, Level: true,
			Sparse: true, Read: func() uint64 { return uint64(max(read(), 0)) }})
	}
	level(probe.Queues, "receive queues, buffers posted", func() int { rx, _ := x.node.Driver().Posted(); return rx })
	level(probe.Queues, "transmit queues, entries posted", func() int { _, tx := x.node.Driver().Posted(); return tx })
	m := x.Manager()
	if m == nil {
		return append(list, x.rival.counters(x.name)...)
	}
	flows := min(x.paths.Flows(), maxLines)
	for i := range flows {
		of := fmt.Sprintf("connection %d: ", i)
		level(probe.Credits, of+"credits to use", func() int { return m.Credits().Balance(i) })
		level(probe.Queues, of+"fast packets in host memory", func() int { return m.InHost(i) })
	}
	level(probe.Credits, "credits in use", func() (n int) {
		for i := range x.paths.Flows() {
			n += m.Credits().InUse(i)
		}
		return n
	})
	for _, c := range []struct {
		what, unit string
		of         func(*manager.Stats) uint64
	}{
		{"fast packets", packets, func(s *manager.Stats) uint64 { return s.Fast }},
		{"slow packets", packets, func(s *manager.Stats) uint64 { return s.Slow }},
		{"packets beyond the credits", packets, func(s *manager.Stats) uint64 { return s.Overshoot }},
		{"packets marked", packets, func(s *manager.Stats) uint64 { return s.Marked }},
		{"times without credits", "times", func(s *manager.Stats) uint64 { return s.Exhausted }},
		{"resumes", "times", func(s *manager.Stats) uint64 { return s.Resumes }},
	} {
		list = append(list, probe.Counter{Picture: probe.Packets, Where: x.name, What: c.what, Unit: c.unit,
			Sparse: true, Read: func() uint64 { s := m.Stats(); return c.of(&s) }})
	}
	return list
}

// packets is the unit of counters of packets.
const packets = "packets"

// Credits returns what the servers with credits did so far.
func (n *Net) Credits() (list []stats.Credits) {
	for _, x := range n.nodes {
		m := x.Manager()
		if m == nil {
			continue
		}
		s, p, l := m.Stats(), x.paths.Stats(), m.Credits()
		list = append(list, stats.Credits{Server: x.name, Credits: l.Total(), Lost: l.Lost(), Withheld: s.Withheld,
			Fast: s.Fast, Slow: s.Slow, Exhausted: s.Exhausted, Drains: s.Drains, Copies: s.Copies, Resumes: s.Resumes,
			Late: s.Late, Overshoot: s.Overshoot, Marked: s.Marked, CE: p.Marked, Strangers: p.Strangers,
			Activated: s.Activated, Deactivated: s.Deactivated})
	}
	return list
}

// Drops returns the frames that NICs have dropped on receive, once their counters have been read.
func (n *Net) Drops() (list []stats.Drops) {
	for _, x := range n.nodes {
		if d := x.drops; d != nil {
			list = append(list, stats.Drops{Server: x.name, Buffer: d.Buffer, Descriptor: d.Descriptor,
				TooLong: d.TooLong, NoRule: d.NoRule})
		}
	}
	return list
}
