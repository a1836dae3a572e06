package program

// Await keeps a port stopped by pause frames until every entry of the given transmit queues has ended [T13]. It does
// not wait for queues with entries for that port.
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

// Gate holds back the TLPs that the NIC sends for a number of cycles from now on, while the operations after it are
// performed.
type Gate struct {
	Cycles int `json:"cycles"`
}

// maxGate is shorter than any wait of the player.
const maxGate = 100_000

func (g *Gate) check(v *validator) { v.in("cycles", g.Cycles, 1, maxGate) }

// Gated reports whether the program has an operation that blocks the NIC's TLPs.
func (p *Program) Gated() bool {
	for i := range p.Ops {
		if p.Ops[i].Gate != nil {
			return true
		}
	}
	return false
}
