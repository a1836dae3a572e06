package kind

import (
	"slices"

	"nictwin/models/sim/field"
)

// Echo is the kind of SENDs to which the server answers by other bytes of the same length.
const Echo Name = "echo"

type echo struct{ plain }

func (echo) Name() Name              { return Echo }
func (echo) Traits() Traits          { return Traits{Sends: true, Receives: true, TwoWay: true} }
func (echo) Transports() []Transport { return []Transport{RC, UC, UD, UDP} }

func (echo) Options() []Option {
	return []Option{Inline, Immediate, LowLatency, Notice, SharedReceive, Head, Misuse, SizesOption, DepthOption,
		AnswerOption}
}

// validate checks the lengths: over UDP a request and its answer are one packet each.
func (echo) validate(f *Fields, bad *Faults) {
	if f.Transport == UDP {
		oneSize(Echo, f, MaxPayload, bad)
	}
	f.validateAnswer(bad)
}

// validateAnswer checks the length of answers, if they are not as long as requests.
func (f *Fields) validateAnswer(bad *Faults) {
	if f.Answer == nil {
		return
	}
	least, most := NumberBytes, MaxBytes
	if f.Transport == UDP {
		least, most = 1, MaxPayload
	}
	if len(f.Sizes) > 0 {
		most = min(most, slices.Min(f.Sizes))
	}
	if most >= least {
		bad.Check(*f.Answer >= least && *f.Answer <= most, AnswerOption, "%d: want %d to %d, the bytes of a request",
			*f.Answer, least, most)
	} else {
		bad.Check(f.Transport == UDP || most < 0, AnswerOption, "%d: an answer has %d B or more, and no more than its "+
			"request, of which one has %d: want none, or %v of %d or more", *f.Answer, least, most,
			field.Path("sizes"), least)
	}
	bad.Check(f.Transport != Raw, AnswerOption, ": over %s frames go back whole: want none, or %v %s", Raw,
		field.Path("transport"), Either([]string{string(RC), string(UC), string(UD)}))
	bad.Check(!slices.Contains(f.Set, Notice), AnswerOption, ": with %v every message ends with a sum over its bytes: "+
		"want none, or %v completion", field.Path("notice"), field.Path("notice"))
}
