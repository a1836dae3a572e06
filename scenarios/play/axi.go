package play

import (
	"maps"
	"path"
	"slices"
	"strings"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
	"nictwin/rtlbridge/manifest"
)

// mostBytes bounds the base address and the size of a memory that the check `memory` covers.
const mostBytes = 1 << 40

// maxBeats is the maximum length of an AXI burst.
const maxBeats = 256

// maxDelay bounds the latency of a served memory, in cycles.
const maxDelay = 10_000

// hasPort reports whether the manifest has an AXI port of this name and direction: in if the device is the subordinate,
// out if it is the manager.
func hasPort(m *manifest.Manifest, port, dir string) bool {
	return slices.ContainsFunc(m.Streams, func(s manifest.Stream) bool { return s.Name == port+".aw" && s.Dir == dir })
}

func (s *Spec) validateAXI(m *manifest.Manifest, f *faults) {
	f.add((s.Check == Memory) == (s.Memory != nil), "memory", "it goes with check memory: want both or none")
	for _, port := range slices.Sorted(maps.Keys(s.Serve)) {
		at := "serve." + field.Path(port)
		f.add(hasPort(m, port, manifest.DirOut), at, "%q: the manifest has no stream of kind axi4 or axil with dir "+
			"out and this name", port)
		f.add(s.Serve[port].Delay <= maxDelay, at+".delay", "%d: want 0 to %d cycles", s.Serve[port].Delay, maxDelay)
	}
	x := s.Memory
	if x == nil {
		return
	}
	f.add(len(x.all()) > 0, "memory.port",
		"is missing: want the AXI port that is read and written, or several in ports")
	for i, port := range x.all() {
		at := x.at(i)
		f.add(hasPort(m, port, manifest.DirIn), at,
			"%q: the manifest has no stream of kind axi4 or axil with dir in and this name", port)
		f.add(!slices.Contains(x.all()[:i], port), at, "%q is there twice: want each port once", port)
	}
	f.add(x.Port == "" || len(x.Ports) == 0, "memory.ports", "want port or ports, not both")
	f.add(x.Bytes >= max(1, uint64(len(x.Ports))) && x.Bytes <= mostBytes, "memory.bytes",
		"%d: want 1 to %d, and one for each port", x.Bytes, uint64(mostBytes))
	f.add(x.Base <= mostBytes, "memory.base", "%#x: want at most %#x", x.Base, uint64(mostBytes))
	f.add(x.Bursts >= 0 && x.Bursts <= MaxCount, "memory.bursts", "%d: want 1 to %d", x.Bursts, MaxCount)
	f.add(x.Most >= 0 && x.Most <= maxBeats, "memory.most", "%d: want 1 to %d", x.Most, maxBeats)
	_, served := s.Serve[x.Behind]
	f.add(x.Behind == "" || served, "memory.behind", "%q: serve has no such port", x.Behind)
}

// memory makes the player access the memory inside the device and compare what it reads. served holds, by port, the
// memories that answer the device's manager ports.
func (d *Device) memory(p *ref.Player, served map[string]*ref.Memory) {
	s := d.Spec
	x := s.Memory
	ports, part := x.all(), x.part()
	o := ref.AXIRange{Base: x.Base, Bytes: part, Bursts: x.Bursts, Whole: x.Whole, NoWrap: x.NoWrap}
	if o.Bursts == 0 {
		o.Bursts = s.Count
	}
	for i, port := range ports {
		if o.Most = s.Memory.Most; o.Most == 0 {
			o.Most = d.mem[i].most
		}
		p.Bursts(port, o, served[s.Memory.Behind])
		o.Base += part
	}
}

// served reports whether a stream is a channel of an AXI port that a memory of the manifest answers.
func (d *Device) served(stream string) bool {
	_, ok := d.Spec.Serve[strings.TrimSuffix(stream, path.Ext(stream))]
	return ok
}

// axiInput reports whether an input belongs to an AXI port that the check memory or serve plays, so that nothing is
// drawn for it.
func (s *Spec) axiInput(stream string) bool {
	for _, ch := range []string{".aw", ".w", ".b", ".ar", ".r"} {
		for port := range s.Serve {
			if stream == port+ch {
				return true
			}
		}
		if s.Memory != nil && slices.ContainsFunc(s.Memory.all(), func(port string) bool { return stream == port+ch }) {
			return true
		}
	}
	return false
}
