package classes

// Cable counts the bytes of the frames in one direction of a cable, by class.
type Cable struct {
	*Link
	seen seen // packets seen, shared by all cables out of servers, or by all out of switches
}

// Places holds the packets that left the servers, and those that left the switches, by whichever cable.
type Places struct{ servers, network seen }

// NewPlaces returns Places that no packet has left yet.
func NewPlaces() *Places { return &Places{seen{}, seen{}} }

// Cable returns a direction of a cable, whose own counter is total. fromServer: a server sends the frames, not a
// switch.
func (p *Places) Cable(where, what string, fromServer bool, total func() uint64) *Cable {
	c := &Cable{&Link{Where: where, What: what, total: total}, p.network}
	if fromServer {
		c.seen = p.servers
	}
	return c
}

// Frame counts a frame.
func (c *Cable) Frame(b []byte) {
	p, ok := parse(b)
	switch n := len(b); {
	case !ok || p.to > len(b):
		c.Count(OtherFrames, n)
	case p.ack:
		c.Count(Acks, n)
	default:
		payload := p.to - p.from
		c.Count(c.class(&p), payload)
		c.Count(Headers, n-payload)
	}
}

// class returns the class of a packet's payload.
func (c *Cable) class(p *packet) Class {
	if c.seen.before(p) {
		return Again
	}
	return Payload
}
