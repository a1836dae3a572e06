package path

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// PMinusN measures how much bandwidth path 1 (client to host memory) loses while path 3 (between host and Arm) takes
// part of the shared PCIe channel.
var PMinusN = study.Experiment{
	Group: "path", Name: "pminusn", Title: "How much of the shared channel the card's own copies may take",
	Figures:  "OP section 4",
	Pictures: pMinusNPictures,
	Claims:   []string{"offpath.c13.p_minus_n", "offpath.c13.p_minus_n_value"},
	Inputs: append([]study.Input{
		{Name: "payload", Value: 4096, Unit: "B", Source: "offpath.p1.bidir, its condition"},
		{Name: "loss", Value: 0.03, Unit: "fraction", Source: "assumption: what counts as no loss"},
	}, linkInputs...),
	Run: pMinusN,
}

// pMinusN increases the rate offered to path 3 while path 1 takes the rest of the channel. P is the rate of that
// channel and N that of the network. P - N is the right cap for path 3 if path 1 loses nothing below it, and may lose
// something above it. Reads from the Arm do not reach the cap: the switch serves its inputs in turn, a TLP each, so
// that TLPs of 128 B get at most a fifth of the channel beside TLPs of 512 B.
func pMinusN(s *study.Session) error {
	limit, rest := s.Input("loss"), s.Input("pcie.rate")-s.Input("net.rate")
	kept, lost, text, memories := true, false, "", ""
	for _, k := range []int{4, 5} {
		b := routes()[k]
		below, above, err := besidePath3(s, b, b.name, linkSpec(s, false))
		if err != nil {
			return err
		}
		text += fmt.Sprintf("beside %s: up to %.0f Gbps at most %.1f%% lost, at 130 %.1f%%; ", b.name, rest, 100*below,
			100*above)
		kept, lost = kept && below < limit, lost || above > limit
		if below, _, err = besidePath3(s, b, b.name+", caches and DRAM", linkSpec(s, true)); err != nil {
			return err
		}
		memories += fmt.Sprintf(", %.1f%% beside %s", 100*below, b.name)
	}
	s.Holds("offpath.c13.p_minus_n", kept && lost, text+"wire bytes on the shared channel",
		"READ on path 1 and copies on path 3 of 4 KB, links and network only; with caches and DRAM up to that cap at "+
			"most"+memories+
			": headers of completions and DLLPs take what the nominal P - N leaves (series)")
	s.Value("offpath.c13.p_minus_n_value", rest, "arithmetic of inputs; the knee is in the series")
	return nil
}

// besidePath3 returns the largest loss of path 1 while path 3 is offered at most P - N (the PCIe rate less the
// network's), and its loss at the highest rate offered to path 3.
func besidePath3(s *study.Session, b route, title string, spec rigSpec) (below, above float64, err error) {
	axis := study.Axis{Name: "path 3, wire bytes offered on the shared channel", Unit: "Gbps"}
	x := study.NewSeries("beside "+title, "Path 1 READ beside "+title, "bandwidth", "Gbps", axis)
	size := int(s.Input("payload"))
	rest := s.Input("pcie.rate") - s.Input("net.rate")
	payload := s.Input("arm.mps")
	if b.name == "path 3 H2S" {
		payload = s.Input("host.mps")
	}
	perByte := 1 + (s.Input("tlp.header")-completionSaves)/payload
	b.to.Addr += 2 * span
	alone := 0.0
	for _, wire := range []float64{0, 20, 40, 50, rest, 65, 80, 100, 130} {
		a := routes()[0]
		first := &flow{name: a.name, from: a.from, to: a.to, size: size, window: int(s.Input("window"))}
		list := []*flow{first}
		if wire > 0 {
			every := float64(size) * 8e3 * perByte / wire
			list = append(list, &flow{name: b.name, from: b.from, to: b.to, size: size, window: int(s.Input("window")),
				every: simcore.Ps(every)})
		}
		e, r, err := flows(s, fmt.Sprintf("%s at %.0f Gbps", title, wire), spec, 1500, list...)
		if err != nil {
			return 0, 0, err
		}
		got, third := e.Gbps(), 0.0
		if wire > 0 {
			third = got * float64(list[1].moved) / float64(first.moved)
		}
		x.AddEstimate("path 1, payload", e, wire)
		x.Add("path 3, payload", third, wire)
		x.Add("path 3, wire", third*perByte, wire)
		if wire == 0 {
			alone = got
		}
		if above = 1 - got/alone; wire <= rest {
			below = max(below, above)
		}
		s.Book(r.ledger(fmt.Sprintf("path 1 and %s at %.0f Gbps", title, wire), r.nic.Moved()))
	}
	s.Record(x)
	return below, above, nil
}

// completionSaves is the number of bytes by which the header of a completion is shorter than that of a request with
// 64-bit addresses.
const completionSaves = 4
