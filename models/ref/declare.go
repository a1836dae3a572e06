package ref

import (
	"fmt"
	"maps"
	"slices"
)

// Declared holds the declarations of a manifest that apply to any reference.
type Declared struct {
	Order   map[string]string  // output -> field by which it is ordered
	Latency map[string]Latency // output -> its bounds
	Out     []string           // outputs that may drop transactions, by the rules in Drops
	Drops   Drops
	Counted string            // observed output that counts the dropped transactions; empty: no output does
	Serve   map[string]uint64 // AXI port served by a memory -> longest delay of its answers, in cycles
	Carried []string          // inputs whose data come from captures
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

// droppedAsCounted checks that the device's count of dropped transactions is the number of missing ones.
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
