package kind

// Reflector is the kind of SENDs and frames that the server sends back out of the buffers into which it received them.
const Reflector Name = "reflector"

type reflector struct{ plain }

func (reflector) Name() Name              { return Reflector }
func (reflector) Traits() Traits          { return echo{}.Traits() }
func (reflector) Transports() []Transport { return []Transport{RC, UC, UD, Raw} }
func (reflector) Options() []Option {
	return []Option{Immediate, LowLatency, Notice, SharedReceive, Head, Misuse, AnswerOption}
}

func (reflector) validate(f *Fields, bad *Faults) { f.validateAnswer(bad) }
