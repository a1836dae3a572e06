package nic

import (
	"errors"
	"fmt"

	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// Spec configures a NIC: the sizes of the build [B2], and what the timed
// component takes for each step. Cycles are of Freq.
type Spec struct {
	Ports    int `yaml:"ports"`
	NumRxq   int `yaml:"num_rxq"`
	NumTxq   int `yaml:"num_txq"`
	NumKeys  int `yaml:"num_keys"`
	NumRules int `yaml:"num_rules"`

	Parts nicspec.Cap1Reg `yaml:"parts"` // parts of the build, as bits of CAP1

	EthBits int `yaml:"eth_bits"` // a beat of an Ethernet stream
	TLPBits int `yaml:"tlp_bits"` // a beat of a TLP stream

	Freq   simcore.Freq `yaml:",inline"`
	Timing Timing       `yaml:"timing"`
	Stall  Stall        `yaml:"stall"`
}

// Has tells whether the build has all of these parts.
func (s *Spec) Has(parts nicspec.Cap1Reg) bool { return parts&^s.Parts == 0 }

// Timing is the latencies of the pipeline, in cycles, and its depths.
type Timing struct {
	RxPipe  int `yaml:"rx_pipe"`  // last beat of a frame to its verdict
	RxPlan  int `yaml:"rx_plan"`  // verdict to the first write
	TxPlan  int `yaml:"tx_plan"`  // work entry there to its first read
	TxPipe  int `yaml:"tx_pipe"`  // all pieces there to the first beat
	RegPipe int `yaml:"reg_pipe"` // register access accepted to its effect
	CplPipe int `yaml:"cpl_pipe"` // completion accepted to its data being used

	Tags       int `yaml:"tags"`         // read requests in flight, 1..256
	RxPrefetch int `yaml:"rx_prefetch"`  // descriptors a queue holds or has asked for
	TxPrefetch int `yaml:"tx_prefetch"`  // work entries likewise
	TxInFlight int `yaml:"tx_in_flight"` // work entries at work for each port, all queues
	TxBufBytes int `yaml:"tx_buf_bytes"` // frame bytes of work entries at work for each port

	CopyJobs   int `yaml:"copy_jobs"`   // copies that a channel has at work
	CopyChunks int `yaml:"copy_chunks"` // parts of 4 KB that a channel holds or has asked for
}

// Stall is a seeded pattern of cycles in which nothing is accepted, in percent
// of the cycles.
type Stall struct {
	Seed   uint64 `yaml:"seed"`
	EthOut int    `yaml:"eth_out"` // back-pressure on frames out
	TLPOut int    `yaml:"tlp_out"` // back-pressure on TLPs out
	TLPIn  int    `yaml:"tlp_in"`  // gaps before TLPs in are taken
}

// DefaultSpec is one port, the default sizes [B2], 400 MHz.
func DefaultSpec() Spec {
	return Spec{
		Ports: 1, NumRxq: 64, NumTxq: 64, NumKeys: 256, NumRules: 64, EthBits: 512, TLPBits: 1024,
		Parts: nicspec.PartsDefault,
		Timing: Timing{
			RxPipe: 12, RxPlan: 4, TxPlan: 6, TxPipe: 10, RegPipe: 4, CplPipe: 4,
			Tags: 256, RxPrefetch: 256, TxPrefetch: 256, TxInFlight: 256, TxBufBytes: 128 << 10,
			CopyJobs: 8, CopyChunks: 16,
		},
	}
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	check := func(ok bool, field string, got int, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("nic: %s is %d: want %s", field, got, want))
		}
	}
	power := func(field string, v, lo, hi int) {
		check(v >= lo && v <= hi && v&(v-1) == 0, field, v, fmt.Sprintf("a power of two, %d..%d", lo, hi))
	}
	between := func(field string, v, lo, hi int) {
		check(v >= lo && v <= hi, field, v, fmt.Sprintf("%d..%d", lo, hi))
	}
	between("ports", s.Ports, 1, 2)
	power("num_rxq", s.NumRxq, 4, 256)
	power("num_txq", s.NumTxq, 4, 256)
	power("num_keys", s.NumKeys, 16, 4096)
	between("num_rules", s.NumRules, 4, 256)
	check(s.Parts&^nicspec.PartsAll == 0, "parts", int(s.Parts), fmt.Sprintf("bits of %#x", nicspec.PartsAll))
	check(s.EthBits == 256 || s.EthBits == 512 || s.EthBits == 1024, "eth_bits", s.EthBits, "256, 512 or 1024")
	check(s.TLPBits == 512 || s.TLPBits == 1024, "tlp_bits", s.TLPBits, "512 or 1024")
	t := s.Timing
	for _, c := range [...]struct {
		field     string
		v, lo, hi int
	}{
		{"timing.rx_pipe", t.RxPipe, 1, 48}, {"timing.rx_plan", t.RxPlan, 1, 1000},
		{"timing.tx_plan", t.TxPlan, 1, 1000}, {"timing.tx_pipe", t.TxPipe, 1, 1000},
		{"timing.reg_pipe", t.RegPipe, 1, 48}, {"timing.cpl_pipe", t.CplPipe, 1, 1000},
		{"timing.tags", t.Tags, 1, 256}, {"timing.tx_in_flight", t.TxInFlight, 1, 1024},
		{"timing.tx_buf_bytes", t.TxBufBytes, 9216, 1 << 24},
		{"timing.copy_jobs", t.CopyJobs, 1, 64}, {"timing.copy_chunks", t.CopyChunks, 1, 1024},
		{"stall.eth_out", s.Stall.EthOut, 0, 99}, {"stall.tlp_out", s.Stall.TLPOut, 0, 99},
		{"stall.tlp_in", s.Stall.TLPIn, 0, 99},
	} {
		between(c.field, c.v, c.lo, c.hi)
	}
	power("timing.rx_prefetch", t.RxPrefetch, 4, 1024)
	power("timing.tx_prefetch", t.TxPrefetch, 4, 256)
	if err := s.Freq.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("nic: %w", err))
	}
	return errors.Join(errs...)
}
