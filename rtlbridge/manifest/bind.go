package manifest

import (
	"errors"
	"fmt"
	"math/big"
	"sort"
	"strings"

	"nictwin/rtlbridge/protocol"
)

// Field is one role of a stream, resolved to bits of a port.
type Field struct {
	Role   string
	Member string // C++ member of the verilated class
	Lsb    int
	Width  int
	Offset int  // byte offset in the side bytes, for side-band roles
	Low    bool // active low, for a handshake
}

// Bytes returns the number of bytes of the field.
func (f Field) Bytes() int { return (f.Width + 7) / 8 }

// BoundStream is a stream whose roles are all resolved.
type BoundStream struct {
	*Stream
	Index                           int
	Data, Keep, Last, Valid, ReadyF Field
	SideFields                      []Field
	DataBytes, SideBytes            int
	ClockIdx                        int
	AfterIdx, WithIdx               int // indices of streams; -1: no such stream
}

type TieOff struct {
	Name   string
	Member string
	Width  int
	Value  *big.Int
}

// Binding is a manifest joined with the ports of the verilated design: all that the generated glue needs.
type Binding struct {
	Manifest *Manifest
	Clocks   []PinPort
	Resets   []boundReset
	Streams  []BoundStream
	Ties     []TieOff
	Observe  []PinPort
	BusyIdx  int // index into Observe, -1 if none
}

type boundReset struct {
	Member string
	Active int
	Cycles int
}

type binder struct {
	m     *Manifest
	ports map[string]PinPort
	used  map[string]string // input port or "port[lane]" -> who drives it
	split map[string]int    // input port driven lane by lane -> number of lanes
	errs  []error
}

// Bind joins manifest and ports. Every missing port, wrong direction, wrong width and undriven input is reported, each
// with the manifest's line.
func Bind(m *Manifest, ports []PinPort) (*Binding, error) {
	b := &binder{m: m, ports: map[string]PinPort{}, used: map[string]string{}, split: map[string]int{}}
	for _, p := range ports {
		b.ports[p.Name] = p
	}
	out := &Binding{Manifest: m, BusyIdx: -1}
	for i, c := range m.Clocks {
		out.Clocks = append(out.Clocks, b.drive(fmt.Sprintf("clocks[%d].signal", i), c.Signal, "the clock", 1))
	}
	for i, r := range m.Resets {
		p := b.drive(fmt.Sprintf("resets[%d].signal", i), r.Signal, "a reset", 1)
		br := boundReset{Member: p.Member, Cycles: r.Cycles}
		if r.Active == "high" {
			br.Active = 1
		}
		out.Resets = append(out.Resets, br)
	}
	for i := range m.Streams {
		out.Streams = append(out.Streams, b.stream(i))
	}
	b.ties(out)
	b.observe(out)
	b.rest(ports, out)
	b.undriven(ports)
	if err := errors.Join(b.errs...); err != nil {
		return nil, fmt.Errorf("manifest does not fit module %s:\n%w", m.Top, err)
	}
	return out, nil
}

func (b *binder) errorf(path, format string, args ...any) {
	b.errs = append(b.errs, b.m.Errorf(path, format, args...))
}

// port looks up a port and checks its direction.
func (b *binder) port(path, name, dir, what string) (PinPort, bool) {
	p, ok := b.ports[name]
	switch {
	case !ok:
		b.errorf(path, "%s: module %s has no port %s%s", what, b.m.Top, name, b.similar(name))
		return p, false
	case p.Array != "":
		b.errorf(path, "%s: port %s is an unpacked array %s, which is not supported; wrap the module with packed ports",
			what, name, p.Array)
		return p, false
	case p.Dir != dir:
		b.errorf(path, "%s: port %s is an %sput of the module and must be an %sput", what, name, p.Dir, dir)
		return p, false
	}
	return p, true
}

func (b *binder) drive(path, name, what string, width int) PinPort {
	p, ok := b.port(path, name, "in", what)
	if !ok {
		return p
	}
	if width != 0 && p.Width != width {
		b.errorf(path, "%s: port %s has %d bits and must have %d", what, name, p.Width, width)
	}
	b.claim(path, name, what)
	return p
}

// claim records who drives a pin (or one lane of it) and refuses a second driver.
func (b *binder) claim(path, pin, what string) {
	if by, ok := b.used[pin]; ok {
		b.errorf(path, "port %s is driven by %s and by %s", pin, by, what)
	}
	b.used[pin] = what
}

// similar suggests ports whose names contain the given one or are contained in it.
func (b *binder) similar(name string) string {
	var hits []string
	for p := range b.ports {
		if strings.Contains(p, name) || strings.Contains(name, p) ||
			strings.HasSuffix(p, name[strings.LastIndex(name, "_")+1:]) {
			hits = append(hits, p)
		}
	}
	if len(hits) == 0 {
		return ""
	}
	sort.Strings(hits)
	if len(hits) > 6 {
		hits = hits[:6]
	}
	return " (did you mean " + strings.Join(hits, ", ") + "?)"
}

func (b *binder) stream(i int) BoundStream {
	s := &b.m.Streams[i]
	bs := BoundStream{Stream: s, Index: i, ClockIdx: b.m.clock(s.Clock), AfterIdx: b.m.other(s.After),
		WithIdx: b.m.other(s.With)}
	fwd, back := s.Dir, DirOut
	if s.Dir == DirOut {
		back = DirIn
	}
	if s.Kind != protocol.KindLevel {
		bs.Valid = b.role(i, s.validRole(), fwd, 1)
	}
	if s.HasReady() {
		bs.ReadyF = b.role(i, s.readyRole(), back, 1)
	}
	if s.Packets() {
		b.packets(i, fwd, &bs)
	}
	path := fmt.Sprintf("streams[%d]", i)
	for _, r := range s.side() {
		f := b.role(i, r, fwd, 0)
		f.Offset = bs.SideBytes
		bs.SideBytes += f.Bytes()
		bs.SideFields = append(bs.SideFields, f)
	}
	if bs.SideBytes > protocol.MaxSideBytes {
		b.errorf(path, "stream %s: %d side-band bytes, the limit is %d", s.Name, bs.SideBytes, protocol.MaxSideBytes)
	}
	return bs
}

// packets finds the pins of a packet stream: tdata, tkeep and tlast.
func (b *binder) packets(i int, fwd string, bs *BoundStream) {
	s := bs.Stream
	bs.Data = b.role(i, "tdata", fwd, 0)
	bs.Last = b.role(i, "tlast", fwd, 1)
	bs.DataBytes = bs.Data.Width / 8
	path := fmt.Sprintf("streams[%d]", i)
	if bs.Data.Width%8 != 0 || bs.Data.Lsb%8 != 0 || bs.Data.Width > 16384 {
		b.errorf(path, "stream %s: tdata has %d bits at bit %d; whole bytes, at most 2048, are needed", s.Name,
			bs.Data.Width, bs.Data.Lsb)
	}
	if u := s.Unit(); u != 0 {
		bs.Keep = b.role(i, "tkeep", fwd, 0)
		if bs.Keep.Width != 0 && bs.Data.Width != 0 && bs.Keep.Width*u != bs.DataBytes {
			b.errorf(path, "stream %s: tkeep has %d bits of %d bytes each, tdata has %d bytes; is keep_unit right?",
				s.Name, bs.Keep.Width, u, bs.DataBytes)
		}
	}
}

// role resolves one role of stream i; width 0 accepts any.
func (b *binder) role(i int, role, dir string, width int) Field {
	s := &b.m.Streams[i]
	path := fmt.Sprintf("streams[%d]", i)
	if _, ok := s.Signals[role]; ok {
		path += ".signals." + role
	} else {
		path += ".prefix"
	}
	what := fmt.Sprintf("stream %s: %s", s.Name, role)
	p, ok := b.port(path, s.Pin(role), dir, what)
	if !ok {
		return Field{Role: role}
	}
	lanes := s.lanes()
	stride := p.Width / lanes
	if st, ok := s.Strides[role]; ok {
		stride = st
	} else if p.Width%lanes != 0 {
		b.errorf(path, "%s: port %s has %d bits, which %d lanes do not share evenly; give strides.%s", what, p.Name,
			p.Width, lanes, role)
	}
	f := Field{Role: role, Member: p.Member, Lsb: s.Lane * stride, Width: stride, Low: s.inverted(role)}
	if stride*lanes > p.Width {
		b.errorf(path, "%s: %d lanes of %d bits exceed port %s of %d bits", what, lanes, stride, p.Name, p.Width)
	}
	if width != 0 && f.Width != width {
		b.errorf(path, "%s: port %s gives %d bits per lane and must give %d", what, p.Name, f.Width, width)
	}
	if dir == DirIn {
		b.claimLane(path, p.Name, s.Lane, lanes, what)
	}
	return f
}

// claimLane records who drives one lane of a port, or all of it if there is only one.
func (b *binder) claimLane(path, port string, lane, lanes int, what string) {
	if n, ok := b.split[port]; ok && n != lanes {
		b.errorf(path, "%s: port %s has %d lanes here and %d in a stream before", what, port, lanes, n)
		return
	}
	b.split[port] = lanes
	if lanes == 1 {
		b.claim(path, port, what)
		return
	}
	if b.used[port] != laneOwner {
		b.claim(path, port, laneOwner)
	}
	b.claim(path, laneName(port, lane), what)
}

// laneOwner represents the streams that share a port.
const laneOwner = "lanes of streams"

func laneName(port string, lane int) string { return fmt.Sprintf("%s[%d]", port, lane) }

func (b *binder) ties(out *Binding) {
	for _, name := range SortedKeys(b.m.TieOffs) {
		path := "tie_offs." + name
		p := b.drive(path, name, "tie-off", 0)
		v, err := parseConstant(b.m.TieOffs[name])
		if err != nil {
			b.errorf(path, "%v", err)
			continue
		}
		if p.Width != 0 && v.BitLen() > p.Width {
			b.errorf(path, "tie-off %s: %s needs %d bits, the port has %d", name, b.m.TieOffs[name], v.BitLen(),
				p.Width)
		}
		out.Ties = append(out.Ties, TieOff{Name: name, Member: p.Member, Width: p.Width, Value: v})
	}
}

func (b *binder) observe(out *Binding) {
	for i, name := range b.m.Observe {
		path := fmt.Sprintf("observe[%d]", i)
		p, ok := b.port(path, name, "out", "observe")
		if ok && p.Width > 64 {
			b.errorf(path, "observe: port %s has %d bits, the limit is 64", name, p.Width)
		}
		if name == b.m.Busy {
			out.BusyIdx = i
		}
		out.Observe = append(out.Observe, p)
	}
}

// rest ties off unbound inputs, if the manifest says so.
func (b *binder) rest(ports []PinPort, out *Binding) {
	if b.m.TieRest == "" {
		return
	}
	v, err := parseConstant(b.m.TieRest)
	if err != nil {
		return // reported by the manifest's check
	}
	for _, p := range ports {
		if _, bound := b.used[p.Name]; bound || p.Dir != DirIn || p.Array != "" {
			continue
		}
		if v.BitLen() > p.Width {
			b.errorf("tie_rest", "tie_rest %s does not fit into input %s of %d bits", b.m.TieRest, p.Name, p.Width)
		}
		b.used[p.Name] = "tie_rest"
		out.Ties = append(out.Ties, TieOff{Name: p.Name, Member: p.Member, Width: p.Width, Value: v})
	}
	if len(out.Ties) > protocol.MaxTieOffs {
		b.errorf("tie_rest", "tie_rest: %d inputs are tied off, the limit is %d", len(out.Ties), protocol.MaxTieOffs)
	}
}

// undriven reports inputs that nothing drives: they would silently stay at zero.
func (b *binder) undriven(ports []PinPort) {
	for _, p := range ports {
		if p.Dir == "out" {
			continue
		}
		if p.Dir == "inout" {
			b.errorf("top", "port %s is an inout, which is not supported", p.Name)
			continue
		}
		switch by, ok := b.used[p.Name]; {
		case !ok:
			b.errorf("tie_offs", "input %s (%d bits) of module %s is bound to nothing; bind it to a stream, add it "+
				"to tie_offs, or tie off all such inputs by tie_rest: 0",
				p.Name, p.Width, b.m.Top)
		case by == laneOwner:
			if missing := b.missingLanes(p.Name); len(missing) > 0 {
				b.errorf("streams", "input %s of module %s: of its %d lanes, %s are bound to nothing; give each lane "+
					"a stream",
					p.Name, b.m.Top, b.split[p.Name], strings.Join(missing, ", "))
			}
		}
	}
}

// missingLanes names the lanes of an input that no stream drives.
func (b *binder) missingLanes(port string) (missing []string) {
	for i := range b.split[port] {
		if name := laneName(port, i); b.used[name] == "" {
			missing = append(missing, name)
		}
	}
	return missing
}
