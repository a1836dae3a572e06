package kind

import "nictwin/models/sim/field"

// Echo is the kind of SENDs to which the server answers by other bytes of the same length.
const Echo Name = "echo"

type echo struct{ plain }

func (echo) Name() Name              { return Echo }
func (echo) Traits() Traits          { return Traits{Sends: true, Receives: true, TwoWay: true} }
func (echo) Transports() []Transport { return []Transport{RC, UC, UD, UDP} }

func (echo) Options() []Option {
	return []Option{Inline, Immediate, LowLatency, Notice, SharedReceive, Misuse, SizesOption, DepthOption,
		AnswerOption}
}

// validate checks the lengths over UDP, where a request and its answer are one packet each.
func (echo) validate(f *Fields, bad *Faults) {
	if f.Transport != UDP {
		bad.Check(f.Answer == nil, AnswerOption, ": over %s answers are as long as requests: want none, or %v %s",
			f.Transport, field.Path("transport"), UDP)
		return
	}
	oneSize(Echo, f, MaxPayload, bad)
	most := MaxPayload
	if n, ok := f.largest(); ok && n > 0 {
		most = n
	}
	if f.Answer != nil {
		bad.Check(*f.Answer >= 1 && *f.Answer <= most, AnswerOption, "%d: want 1 to %d, the bytes of a request",
			*f.Answer, most)
	}
}
