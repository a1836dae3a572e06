package kind

// Send is the kind of SENDs, which the server takes.
const Send Name = "send"

type send struct{ plain }

func (send) Name() Name              { return Send }
func (send) Traits() Traits          { return Traits{Sends: true, Receives: true} }
func (send) Transports() []Transport { return []Transport{RC, UC, UD, Raw} }

func (send) Options() []Option {
	return []Option{Inline, Immediate, Invalidate, LowLatency, Notice, SharedReceive, Head, Reused, Misuse}
}
