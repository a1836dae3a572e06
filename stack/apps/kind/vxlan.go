package kind

// VXLAN is the kind of datagrams in VXLAN (RFC 7348), in frames of 64 B, which the server parses, counts and drops.
const VXLAN Name = "vxlan"

// VXLANSpec describes the datagrams.
type VXLANSpec struct {
	Networks int `yaml:"networks"` // that datagrams belong to in turn
}

// DefaultVXLAN returns datagrams of four networks.
func DefaultVXLAN() VXLANSpec { return VXLANSpec{Networks: 4} }

type vxlan struct{ plain }

func (vxlan) Name() Name              { return VXLAN }
func (vxlan) Traits() Traits          { return Traits{Sends: true, Receives: true} }
func (vxlan) Transports() []Transport { return []Transport{UDP} }
func (vxlan) Options() []Option       { return []Option{VXLANOption} }

func (vxlan) validate(f *Fields, bad *Faults) {
	const most = 1 << 16
	bad.Check(f.VXLAN.Networks >= 1 && f.VXLAN.Networks <= most, "vxlan.networks", "%d: want 1 to %d", f.VXLAN.Networks,
		most)
}
