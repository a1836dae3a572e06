package kind

// Echo is the kind of SENDs to which the server answers by other bytes of the same length.
const Echo Name = "echo"

type echo struct{ plain }

func (echo) Name() Name              { return Echo }
func (echo) Traits() Traits          { return Traits{Sends: true, Receives: true, TwoWay: true} }
func (echo) Transports() []Transport { return []Transport{RC, UC, UD, UDP} }

func (echo) Options() []Option {
	return []Option{Inline, Immediate, LowLatency, Notice, SharedReceive, Misuse, SizesOption, DepthOption}
}

// validate checks the lengths over UDP, where a request and its answer are one packet each.
func (echo) validate(f *Fields, bad *Faults) {
	if f.Transport == UDP {
		oneSize(Echo, f, MaxPayload, bad)
	}
}
