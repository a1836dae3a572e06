package kind

import "nictwin/models/sim/field"

// PingPong is like Echo, one message at a time.
const PingPong Name = "ping_pong"

type pingPong struct{ echo }

func (pingPong) Name() Name              { return PingPong }
func (pingPong) Transports() []Transport { return []Transport{RC, UC, UD} }

func (pingPong) validate(f *Fields, bad *Faults) {
	bad.Check(f.Depth == 1, "depth", "%d: %v %s has one message at a time: want 1", f.Depth, field.Path("kind"),
		PingPong)
	f.validateAnswer(bad)
}
