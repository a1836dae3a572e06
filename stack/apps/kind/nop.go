package kind

// Nop is the kind of requests that the client's NIC or card takes and completes, without a packet: work requests NOP.
const Nop Name = "nop"

type nop struct{ plain }

func (nop) Name() Name        { return Nop }
func (nop) Traits() Traits    { return Traits{} }
func (nop) Lengths() Lengths  { return Lengths{0, 0, 1} }
func (nop) Options() []Option { return nil }

func (nop) lacks(o Option) (why, want string) {
	if why, want = (plain{}).lacks(o); o == Reused {
		why = "has no bytes"
	}
	return why, want
}
