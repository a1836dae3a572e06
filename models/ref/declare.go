package ref

import (
	"fmt"
	"maps"
	"slices"
)

// Declared holds the declarations of a manifest that apply to any check.
type Declared struct {
	Order   map[string]string  // output -> field
	Latency map[string]Latency // output -> bounds
	Out     []string           // outputs that may drop
	Drops   Drops
	Counted string            // observed output that counts drops; empty: none
	Serve   map[string]uint64 // AXI ports served by memories -> longest delay of their answers, in cycles
	Carried []string          // inputs whose data come from captures instead of being drawn
}

// Declare applies the declarations of a manifest. It returns the memories behind the served ports,
// by port name.
func (p *Player) Declare(d *Declared) map[string]*Memory {
	for _, out := range slices.Sorted(maps.Keys(d.Order)) {
		p.Order(out, d.Order[out])
	}
	for _, out := range slices.Sorted(maps.Keys(d.Latency)) {
		p.Latency(out, d.Latency[out])
	}
	for _, out := range d.Out {
		p.Drops(out, d.Drops)
	}
	for _, in := range d.Carried {
		p.in(in).carried = true
	}
	if d.Counted != "" {
		p.End(func() { p.droppedAsCounted(d) })
	}
	behind := map[string]*Memory{}
	for _, port := range slices.Sorted(maps.Keys(d.Serve)) {
		behind[port] = p.NewMemory("the memory at " + port)
		p.ServeAXI(port, behind[port], d.Serve[port])
	}
	return behind
}

// droppedAsCounted checks that the device counted what it dropped.
func (p *Player) droppedAsCounted(d *Declared) {
	n := 0
	for _, out := range d.Out {
		n += p.Dropped(out)
	}
	if got := p.Observed(d.Counted); got != uint64(n) {
		p.Fail(Failure{Field: d.Counted, Expected: fmt.Sprintf("%d, the number of missing transactions", n),
			Got: fmt.Sprint(got)})
	}
}
