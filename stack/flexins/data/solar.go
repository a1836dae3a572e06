package data

import (
	"nictwin/stack/transport"
)

// trailer reads the trailer behind a Solar packet's block, which the NIC places as payload. The packet's
// headers are core.header[:used]. trailer returns false if the trailer is cut off.
func (c *core) trailer(p *packet, used int) bool {
	if !c.frame.Trailed() {
		return true
	}
	const n = transport.SolarTrailerSize
	if c.frame.Payload+n > p.n || used+n > len(c.header) {
		return false
	}
	b := c.header[used : used+n]
	if err := c.cpu.Load(p.at+uint64(c.frame.Payload), b); err != nil {
		c.fail(err)
		return false
	}
	c.frame.SolarTrailer(b)
	return true
}
