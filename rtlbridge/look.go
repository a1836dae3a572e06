package rtlbridge

import "context"

// Ports are the ports of a manifest's top module. Of the manifest only what says what the design is counts: it needs no clocks
// and streams. A canceled context ends it.
func Ports(ctx context.Context, m *Manifest) ([]PinPort, error) {
	b, err := prepare(m, BuildOptions{Context: ctx})
	if err != nil {
		return nil, err
	}
	b.limits = lookLimits
	if err := b.makeScratch(); err != nil {
		return nil, err
	}
	defer b.cleanUp()
	return b.translate()
}

// AXIField is a field of an AXI port, as the kinds axi4 and axil of streams have them.
type AXIField struct {
	Name, Channel string
	Answer        bool // of a channel from the subordinate
	Lite          bool // AXI4-Lite has it, too
}

// AXIFields are the fields of AXI ports, by channel, without their handshakes.
func AXIFields() (list []AXIField) {
	for _, c := range axiChannels {
		for _, f := range c.lite {
			list = append(list, AXIField{f, c.name, c.answer, true})
		}
		for _, f := range c.more {
			list = append(list, AXIField{f, c.name, c.answer, false})
		}
	}
	return list
}
