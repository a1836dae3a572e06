package hostnet

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
)

// Spec holds the options of a node.
type Spec struct {
	// ReceiveCycles and TransmitCycles are what the software of a packet costs besides its memory accesses: headers
	// parsed and built, rpc, the call of the application. Their default is calibrated, see PacketPs.
	ReceiveCycles  int64 `yaml:"rx_cycles"`
	TransmitCycles int64 `yaml:"tx_cycles"`

	// PollCycles is the cost of polling a flow without a packet: assumption.
	PollCycles int64 `yaml:"poll_cycles"`

	// Burst is the most packets that a step of a flow receives, and the most that it sends: 32, DPDK's usual burst.
	Burst int `yaml:"burst"`

	// Repost is the number of receive buffers announced by one doorbell: 32, as DPDK's drivers free them.
	Repost int `yaml:"repost"`

	// LogReceive and LogTransmit are log2 of the entries of a flow's receive ring and a core's transmit ring.
	LogReceive  int `yaml:"log_receive"`
	LogTransmit int `yaml:"log_transmit"`

	// BufferBytes is the length of a receive buffer (ce.buf).
	BufferBytes int `yaml:"buffer_bytes" unit:"bytes"`

	// AnswerTimeout is the time after which a client sends a request again that was acknowledged and not answered:
	// assumption.
	AnswerTimeout quantity.Time `yaml:"answer_timeout"`
}

// PacketPs is the time that a host core takes for a request of the key-value store, all of it, if no access misses the
// last-level cache. The costs of software are calibrated on it. CEIO gets 61.57 million packets a second on the cores
// of six flows (Table 4, six of eight flows CPU-involved, a cell whose buffers stay in the cache), so each takes
// 97.4 ns, or 273 cycles of a core of 2.8 GHz.
//
// The simulated core needs 86 ns of these for loads and stores, with the costs of corebus.HostSpec. The rest is
// divided equally between the request and its answer.
const PacketPs Ps = 6 * 1_000_000_000_000 / 61_570_000

// calibratedCycles of a request, and of an answer, make the time of both PacketPs.
const calibratedCycles = 16

// DefaultSpec returns receive rings of 1,024 buffers of 2 KB.
func DefaultSpec() Spec {
	return Spec{ReceiveCycles: calibratedCycles, TransmitCycles: calibratedCycles, PollCycles: 60, Burst: 32,
		Repost: 32, LogReceive: 10, LogTransmit: 8, BufferBytes: 2048, AnswerTimeout: 1_000_000_000}
}

// maxCycles bounds what a packet costs.
const maxCycles = 1 << 20

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, low, high int64) {
		errs = append(errs, field.Within(path, v, low, high))
	}
	within("rx_cycles", s.ReceiveCycles, 0, maxCycles)
	within("tx_cycles", s.TransmitCycles, 0, maxCycles)
	within("poll_cycles", s.PollCycles, 1, maxCycles)
	within("burst", int64(s.Burst), 1, 1024)
	within("repost", int64(s.Repost), 1, 1024)
	within("log_receive", int64(s.LogReceive), nicspec.LogSizeMin, nicspec.LogSizeMax)
	within("log_transmit", int64(s.LogTransmit), nicspec.LogSizeMin, nicspec.LogSizeMax)
	within("buffer_bytes", int64(s.BufferBytes), 64, nicspec.FrameMax)
	errs = append(errs, field.Within("answer_timeout", s.AnswerTimeout, 1e6, 1e15))
	return errors.Join(errs...)
}
