package ring

import (
	"errors"
	"fmt"

	"nictwin/models/rnic"
	"nictwin/scenarios/papers/study"
	"nictwin/stack/rb2"
)

// Pointers counts the pointers, WRITEs and completions of Algorithm 1, and checks whether readers see incomplete
// messages.
var Pointers = study.Experiment{
	Group: "ring", Name: "pointers", Title: "What a ring writes, completes and reads",
	Figures: "RB2 sections 3-B, 4-A, 4-B, 4-C, Fig. 4",
	Claims: []string{
		"rb2.empty_condition", "rb2.monotone_pointers", "rb2.alg.pointer_advance_cond", "rb2.alg.lazy_push",
		"rb2.alg.cqe_only_pointer",
		"rb2.example.slot_tx", "rb2.example.lazy_push", "rb2.align.128B_lines", "rb2.wt.writes_per_msg",
		"rb2.wt.ordering", "rb2.poll_message_order",
	},
	Inputs: inputs(
		study.Input{Name: "example.slots", Value: 8, Unit: "slots", Source: "rb2.example.config",
			Anchors: []string{"rb2.example.config"}},
		study.Input{Name: "example.alpha", Value: 4, Unit: "messages", Source: "rb2.example.config",
			Anchors: []string{"rb2.example.config"}},
		study.Input{Name: "example.beta", Value: 2, Unit: "messages", Source: "rb2.example.config",
			Anchors: []string{"rb2.example.config"}},
		study.Input{Name: "example.gamma", Value: 2, Unit: "messages", Source: "rb2.example.config",
			Anchors: []string{"rb2.example.config"}},
		study.Input{Name: "torn.size", Value: 1000, Unit: "B", Source: "assumption: one packet, of two TLPs"},
	),
	Run: countPointers,
}

func countPointers(s *study.Session) error {
	example(s)
	if err := alignment(s); err != nil {
		return err
	}
	if err := counts(s); err != nil {
		return err
	}
	return orders(s)
}

// example runs the worked example of section 4-B on the pointer arithmetic alone.
func example(s *study.Session) {
	of := func(name string) int { return int(s.Input("example." + name)) }
	spec := rb2.Spec{Alpha: of("alpha"), Beta: of("beta"), Gamma: of("gamma"), Head: rb2.HeadPush, Tail: rb2.TailWrite,
		Elastic: true, Slots: of("slots")}
	p := rb2.SendPointers{}
	p.Wrote(&spec)
	before := p.Esc
	published := p.Wrote(&spec)
	sent := float64(p.Esc - before)
	if published {
		sent = -1
	}
	s.Value("rb2.example.slot_tx", sent, "slots that are to be transmitted after one more message, with one "+
		"waiting; -1 if the tail is told, too").Counted()
	r := rb2.RecvPointers{Head: 1, Tail: 4}
	first, second := r.Took(&spec), r.Took(&spec)
	s.Holds("rb2.example.lazy_push", first && !second, fmt.Sprintf("first read tells of the head: %t, second: %t",
		first, second), "two reads with one behind them").Counted()
	empty := rb2.RecvPointers{}
	was := empty.Empty()
	empty.Tail = 1
	s.Holds("rb2.empty_condition", was && !empty.Empty(), "", "head and tail equal, and apart").Counted()
}

// alignment counts the lines that a core loads for a message of 128 B in an unaligned slot and in an aligned
// one.
func alignment(s *study.Session) error {
	const message = 128
	lines := map[bool]float64{}
	for _, aligned := range []bool{false, true} {
		d := full(s)
		d.spec.Aligned = aligned
		b, err := newBed(s, &d, 1)
		if err != nil {
			return err
		}
		f, err := b.newFlow(&d, 0, message)
		if err == nil {
			x := f.ends[1]
			before := x.x.core.Stats().Loads
			var into [message]byte
			err = errors.Join(x.x.core.Load(x.own.Slots, into[:]), b.settle())
			lines[aligned] = float64(x.x.core.Stats().Loads - before)
		}
		if err = errors.Join(err, b.rack.Close()); err != nil {
			return err
		}
	}
	broken := ""
	if lines[true] != 2 {
		broken = fmt.Sprintf("an aligned one touches %g", lines[true])
	}
	s.ValueAnd("rb2.align.128B_lines", lines[false], fmt.Sprintf("lines that a core loads of a message in the first "+
		"slot, %d B behind a line; aligned: %g", misaligned, lines[true]), broken).Counted()
	return nil
}

// counts runs three rings, and checks that the numbers of slots, tails and heads written are those of messages over the
// thresholds beta, alpha and gamma of their specs.
func counts(s *study.Session) error {
	const size = 64
	one, err := throughput(s, full(s).unbatched(), size)
	if err != nil {
		return err
	}
	batched := full(s)
	batched.name, batched.spec.Elastic = "not elastic", false
	two, err := throughput(s, batched, size)
	if err != nil {
		return err
	}
	full, err := throughput(s, full(s), size)
	if err != nil {
		return err
	}
	x := study.NewSeries("requests", "WRITEs, completions and tails of 64 B messages", "per message", "",
		study.Axis{Name: "what"})
	for _, r := range []*rate{one, two, full} {
		a := r.f.send.Stats()
		n := float64(a.Messages)
		name := r.f.d.name
		if r == one {
			name += ", unbatched"
		}
		x.Bar(name, "WRITEs of slots", float64(a.Slots)/n)
		x.Bar(name, "WRITEs of the tail", float64(a.Words)/n)
		x.Bar(name, "completions", float64(a.Ended)/n)
	}
	s.Record(x)
	a, b, c := one.f.send.Stats(), two.f.send.Stats(), full.f.send.Stats()
	s.Value("rb2.wt.writes_per_msg", float64(a.Slots+a.Words)/float64(a.Messages),
		"WRITEs of slots and tails over messages, unbatched").Counted()
	alpha, beta := uint64(two.f.d.spec.Alpha), uint64(two.f.d.spec.Beta)
	s.Holds("rb2.alg.pointer_advance_cond", b.Words == b.Messages/alpha && b.Slots == b.Messages/beta,
		fmt.Sprintf("%d messages, %d WRITEs of slots at beta %d, %d of tails at alpha %d", b.Messages, b.Slots, beta,
			b.Words, alpha), "tails and slots written, against messages over alpha and beta").Counted()
	heads, read := full.f.recv.Stats().Words, full.f.recv.Stats().Messages
	gamma := uint64(full.f.d.spec.Gamma)
	s.Holds("rb2.alg.lazy_push", heads == read/gamma, fmt.Sprintf("%d heads for %d messages read at gamma %d", heads,
		read, gamma), "heads written, against messages over gamma").Counted()
	polled := uint64(full.f.cqes[0])
	under := uint64(full.f.send.InFlight())
	s.Holds("rb2.alg.cqe_only_pointer", polled+under == c.Words,
		fmt.Sprintf("%d completions and %d under way, %d tails, %d WRITEs of slots", polled, under, c.Words, c.Slots),
		"completions that the sender polled").Counted()
	back := one.f.back + two.f.back + full.f.back
	s.Holds("rb2.monotone_pointers", back == 0 && full.f.moved,
		fmt.Sprintf("%d of %d times a pointer went back", back, a.Messages+b.Messages+c.Messages),
		"all pointers, after every message that was written and read").Counted()
	return nil
}

// orders lets a core read messages from NICs that write the bytes of a WRITE in ascending or in descending order of
// addresses.
func orders(s *study.Session) error {
	size := int(s.Input("torn.size"))
	back := func(x *rnic.Spec) { x.Place = rnic.Descending }
	x := study.NewSeries("torn", "Messages that were not whole when they were read", "of all", "",
		study.Axis{Name: "NIC"})
	torn := map[string]float64{}
	for _, p := range []struct {
		name   string
		d      design
		change func(*rnic.Spec)
	}{
		{"write twice, front to back", full(s), nil}, {"write twice, back to front", full(s), back},
		{"poll the last byte, front to back", looseTail(s), nil},
		{"poll the last byte, back to front", looseTail(s), back},
	} {
		r, err := oneWay{d: p.d, size: size, torn: true, change: p.change}.measure(s)
		if err != nil {
			return err
		}
		torn[p.name] = float64(r.f.torn) / float64(r.f.got)
		x.Bar("ring", p.name, torn[p.name])
	}
	s.Record(x)
	s.Holds("rb2.wt.ordering", torn["write twice, front to back"] == 0 && torn["write twice, back to front"] == 0,
		"no message was read before it was whole, whatever the NIC's order of bytes",
		"first and last bytes of each message, when the tail tells of it").Counted()
	last := torn["poll the last byte, back to front"]
	s.Holds("rb2.poll_message_order", torn["poll the last byte, front to back"] == 0 && last > 0,
		fmt.Sprintf("polling messages: none torn front to back, %.0f%% back to front", 100*last),
		"first and last bytes of each message, when the word behind it is there").Counted()
	return nil
}
