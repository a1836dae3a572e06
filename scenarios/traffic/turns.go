package traffic

import "io"

// PortFrame is a frame and the port that it belongs to.
type PortFrame struct {
	Frame
	Port int
}

// Turns gives the frames of the ports in turn, as long as each has some, so that all ports are busy at once; pass
// after pass.
type Turns struct {
	ports []*Playlist
	port  int   // whose turn it is
	given []int // frames of this pass, by port
	left  int   // of this pass
}

// NewTurns takes the playlists of all ports.
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
