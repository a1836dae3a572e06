package dutnew

import (
	"regexp"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"

	"nictwin/rtlbridge/protocol"
)

// stream is a group of pins with a handshake, or an AXI port.
type stream struct {
	name, kind, dir string
	title           string // name for the manifest, if it differs from the name in the pins
	prefix, suffix  string // of its pins, in lower case: "s_axis_" and "_i" in s_axis_tvalid_i
	valid, ready    *pin
	members         []member
	keepUnit        int      // bytes per bit of tkeep, for packets; the manifest leaves out 1
	lanes           int      // number of streams that share the pins: each takes a slice of every vector
	omit            []string // roles for which an AXI port has no pin
	clock           string
	clockGuessed    bool
	note            string // remark for the manifest: what about the stream is guessed
	// validLow and readyLow mark an active-low handshake, such as full and empty.
	validLow, readyLow bool
	late               bool   // the data comes one cycle after the handshake
	clockLetter        string // first letter of the clock's name on this side of a FIFO: w or r
	selector           string // field that selects one of several outputs for a packet
}

// member is a pin of a stream, with its role in the manifest.
type member struct {
	pin  *pin
	role string
	side bool
	low  bool // active-low; only handshake pins are
}

// held reports whether the side band must stay the same in every beat of an input packet, since the design may read it
// with any beat. Inputs with a selector are excepted: it may change once the packet is under way.
func (s *stream) held() bool {
	return s.selector == "" && s.kind == protocol.KindAxis && s.dir == manifest.DirIn &&
		slices.ContainsFunc(s.members, func(m member) bool { return m.side })
}

var reValid = regexp.MustCompile(`^(.*?)(t?valid|t?vld)((?:_(?:i|o|in|out))?)$`)

var directions = []string{"", "_i", "_o", "_in", "_out"}

// handshakes finds streams by their valid pins and assigns to each the pins that share its name.
func (f *found) handshakes() {
	var list []*stream
	for _, p := range f.pins {
		m := reValid.FindStringSubmatch(p.lower)
		if m == nil || p.used || p.Array != "" || m[1] != "" && !strings.HasSuffix(m[1], "_") && len(m[1]) > 1 {
			continue
		}
		p.used = true
		list = append(list, &stream{dir: p.Dir, prefix: m[1], suffix: m[3], valid: p, lanes: p.Width})
	}
	for _, s := range list {
		s.ready = f.ready(s)
	}
	for _, p := range f.pins {
		if s := owner(list, p); s != nil {
			p.used = true
			s.members = append(s.members, member{pin: p, role: s.plain(p)})
		}
	}
	headers(list, f.pins)
	for _, s := range list {
		s.form()
		s.name = f.unique(s)
		f.streams = append(f.streams, s)
	}
}

// ready returns the pin by which the receiver of a stream exerts back-pressure.
func (f *found) ready(s *stream) *pin {
	for _, p := range f.pins {
		if p.used || p.Dir == s.dir || p.Array != "" {
			continue
		}
		for _, word := range []string{"tready", "ready", "trdy", "rdy"} {
			for _, d := range directions {
				if p.lower == s.prefix+word+d && (s.suffix == "" || d != "") {
					p.used = true
					return p
				}
			}
		}
	}
	return nil
}

// usual matches names of pins that belong to a handshake whose pins for valid and ready have no prefix.
var usual = regexp.MustCompile(
	`^t?(data|dat|payload|keep|strb|last|user|id|dest|sop|eop|empty|addr|be|error|err|hdr|header)$`)

// owner returns the stream that a pin belongs to: the one with the longest name that is a prefix of the pin's.
func owner(list []*stream, p *pin) (best *stream) {
	if p.used || p.Array != "" {
		return nil
	}
	for _, s := range list {
		if p.Dir != s.dir {
			continue
		}
		if !s.whole(p) && (!strings.HasPrefix(p.lower, s.prefix) || !strings.HasSuffix(p.lower, s.suffix)) {
			continue
		}
		if s.prefix == "" && !usual.MatchString(s.plain(p)) {
			continue
		}
		if best == nil || len(s.prefix) > len(best.prefix) {
			best = s
		}
	}
	return best
}

// whole reports whether a pin's name is the stream's, without a role: for example `event`, if the stream also has
// event_valid.
func (s *stream) whole(p *pin) bool {
	return len(s.prefix) > 2 && p.lower == strings.TrimSuffix(s.prefix, "_")+s.suffix
}

// plain returns a pin's name without the name of its stream; for a pin that has just the stream's name, it returns
// "data".
func (s *stream) plain(p *pin) string {
	if s.whole(p) {
		return "data"
	}
	return strings.TrimSuffix(strings.TrimPrefix(p.lower, s.prefix), s.suffix)
}

// packetRoles maps the names that designs use to roles of packet streams.
var packetRoles = map[string]string{
	"tdata": "tdata", "data": "tdata", "dat": "tdata", "payload": "tdata",
	"tlast": "tlast", "last": "tlast", "eop": "tlast", "end_of_packet": "tlast", "endofpacket": "tlast",
	"tkeep": "tkeep", "keep": "tkeep", "tstrb": "tkeep", "strb": "tkeep",
}

// form decides whether a stream carries packets or records.
func (s *stream) form() {
	if s.packets() {
		s.kind = protocol.KindAxis
		for i := range s.members {
			m := &s.members[i]
			if r := packetRoles[m.role]; r != "" {
				m.role = r
			} else {
				m.side = true
			}
		}
		if slices.ContainsFunc(s.members, func(m member) bool { return m.side }) {
			s.note = "side: the same in every beat of a packet"
			if s.dir == manifest.DirOut {
				s.note = "side: taken from the first beat of a packet"
			}
		}
		return
	}
	s.kind = protocol.KindRecord
}

// packets reports whether the members are those of a packet stream, and finds the number of bytes per bit of tkeep.
func (s *stream) packets() bool {
	width := map[string]int{}
	for _, m := range s.members {
		switch r := packetRoles[m.role]; {
		case m.role == "sop" || m.role == "startofpacket" || m.role == "start_of_packet" || m.role == "empty":
			s.note = "beats with start and end marks: each is a record"
			return false
		case r != "" && width[r] != 0:
			return false // two pins for one role
		case r != "":
			width[r] = m.pin.Width / max(1, s.lanes)
		}
	}
	data, keep := width["tdata"], width["tkeep"]
	switch {
	case data == 0 || data%8 != 0 || width["tlast"] != 1:
		return false
	case keep == 0:
		s.keepUnit = 0
	case data == 8*keep:
		s.keepUnit = 1
	case data == 32*keep:
		s.keepUnit = 4
	default:
		return false
	}
	return true
}

// unique returns a unique name for a stream.
func (f *found) unique(s *stream) string {
	name := s.title
	if name == "" {
		name = strings.Trim(s.prefix, "_")
	}
	if name == "" || name == "i" || name == "o" {
		name = s.dir
	}
	for again := name; ; again += "_" + s.dir {
		if !slices.ContainsFunc(f.streams, func(o *stream) bool { return o.name == again }) {
			return again
		}
	}
}
