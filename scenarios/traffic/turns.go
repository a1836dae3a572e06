package traffic

import "io"

// PortFrame is a frame and its port.
type PortFrame struct {
	Frame
	Port int
}

// Turns merges the playlists of ports, pass after pass. Within a pass it takes frames from the ports in turn, as long
// as they have any, so that all ports are busy at once.
type Turns struct {
	ports []*Playlist
	port  int   // the next port whose turn it is
	given []int // by port: frames returned in this pass
	left  int   // frames left in this pass
}

// NewTurns returns Turns over the playlists of all ports.
func NewTurns(ports []*Playlist) *Turns { return &Turns{ports: ports, given: make([]int, len(ports))} }

// Next returns the next frame, and io.EOF after the last.
func (t *Turns) Next() (PortFrame, error) {
	if t.left == 0 {
		clear(t.given)
		t.port = 0
		for _, l := range t.ports {
			t.left += l.pass
		}
		if t.left == 0 {
			return PortFrame{}, io.EOF
		}
	}
	for t.given[t.port] == t.ports[t.port].pass {
		t.port = (t.port + 1) % len(t.ports)
	}
	p := t.port
	t.port = (p + 1) % len(t.ports)
	t.given[p]++
	t.left--
	f, err := t.ports[p].Next()
	return PortFrame{f, p}, err
}
