package kind

import (
	"fmt"

	"nictwin/models/sim/field"
)

// UDP is the transport of messages over UDP datagrams with congestion control in software (stack/rpc), or of
// datagrams alone. The applications of its kinds are those of stack/hostnet; package apps does not run them.
const UDP Transport = "udp"

// MaxPayload is the largest payload of a packet over UDP.
const MaxPayload = 9000

// Options of kinds over UDP.
const (
	SizesOption  Option = "sizes"
	DepthOption  Option = "depth"
	AnswerOption Option = "answer"
	KVOption     Option = "kv"
	ChunksOption Option = "chunks"
	VXLANOption  Option = "vxlan"
)

// oneSize checks the only length of a flow's messages over UDP.
func oneSize(name Name, f *Fields, most int, bad *Faults) {
	bad.Check(len(f.Sizes) <= 1, "sizes", ": %d of them: a flow of kind %s over %s has messages of one length: want 1",
		len(f.Sizes), name, UDP)
	for i, n := range f.Sizes {
		bad.Check(n >= 1 && n <= most, field.Path(fmt.Sprintf("sizes[%d]", i)), "%d: %s over %s takes 1 to %d bytes", n,
			name, UDP, most)
	}
}
