package play

// settle is how long nothing must happen until a run is over: where transactions are missing that may be, and no counter of
// the device has as many, they may still be on their way through stalls.
func (p *played) settle() uint64 {
	counted, _ := p.Observed(p.Spec.Drops.Counted)
	if n := p.p.Missing(); n > 0 && (p.Spec.Drops.Counted == "" || counted != uint64(n)) {
		return p.patience
	}
	return uint64(p.Spec.Settle)
}
