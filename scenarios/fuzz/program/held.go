package program

// Await keeps a port stopped by pause frames until every entry of these transmit queues has ended [T13]. A queue with
// entries for that port is left out.
type Await struct {
	Port   int   `json:"port"`
	Queues []int `json:"queues"`
}

func (a *Await) check(v *validator) {
	v.in("port", a.Port, 0, 1)
	v.in("queues", len(a.Queues), 0, maxList)
	for _, q := range a.Queues {
		v.queue(q)
	}
}

// Gate takes no TLP of the NIC for so many cycles, which begin at once. What follows goes on meanwhile.
type Gate struct {
	Cycles int `json:"cycles"`
}

// maxGate is less than any wait of the player.
const maxGate = 100_000

func (g *Gate) check(v *validator) { v.in("cycles", g.Cycles, 1, maxGate) }

// Gated reports whether the program has such an operation.
func (p *Program) Gated() bool {
	for i := range p.Ops {
		if p.Ops[i].Gate != nil {
			return true
		}
	}
	return false
}
