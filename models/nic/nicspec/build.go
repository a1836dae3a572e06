package nicspec

import (
	"errors"
	"fmt"

	"nictwin/models/sim/field"
)

// Build describes a build of the NIC [B2]: sizes, widths and optional parts.
type Build struct {
	Ports    int `yaml:"ports"`     // Ethernet ports
	NumRxq   int `yaml:"num_rxq"`   // receive queues
	NumTxq   int `yaml:"num_txq"`   // transmit queues
	NumKeys  int `yaml:"num_keys"`  // memory keys
	NumRules int `yaml:"num_rules"` // steering rules

	Parts Cap1Reg `yaml:"parts"` // optional parts, as bits of CAP1

	EthBits int `yaml:"eth_bits"` // bits per beat of an Ethernet stream
	TLPBits int `yaml:"tlp_bits"` // bits per beat of a TLP stream
}

// DefaultBuild returns a build with one port and the default sizes [B2].
func DefaultBuild() Build {
	return Build{
		Ports: 1, NumRxq: 64, NumTxq: 64, NumKeys: 256, NumRules: 64, EthBits: 512, TLPBits: 1024,
		Parts: PartsDefault,
	}
}

// WantEthBits lists the valid widths of Ethernet streams [B2], for error texts.
const WantEthBits = "256, 512 or 1024"

// ValidEthBits reports whether Ethernet streams can have this width.
func ValidEthBits(bits int) bool { return bits == 256 || bits == 512 || bits == 1024 }

// Has reports whether the build has all of these parts.
func (b *Build) Has(parts Cap1Reg) bool { return parts&^b.Parts == 0 }

// Validate returns every error of the build, each with its field.
func (b Build) Validate() error {
	var errs []error
	check := func(ok bool, path field.Path, got int, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%d: want %s", got, want))
		}
	}
	power := func(path field.Path, v, lo, hi int) {
		check(v >= lo && v <= hi && v&(v-1) == 0, path, v, fmt.Sprintf("a power of two, %d..%d", lo, hi))
	}
	check(b.Ports >= 1 && b.Ports <= 2, "ports", b.Ports, "1..2")
	power("num_rxq", b.NumRxq, 4, 256)
	power("num_txq", b.NumTxq, 4, 256)
	power("num_keys", b.NumKeys, 16, 4096)
	check(b.NumRules >= 4 && b.NumRules <= 256, "num_rules", b.NumRules, "4..256")
	check(b.Parts&^PartsAll == 0, "parts", int(b.Parts), fmt.Sprintf("bits of %#x", int(PartsAll)))
	check(ValidEthBits(b.EthBits), "eth_bits", b.EthBits, WantEthBits)
	check(b.TLPBits == 512 || b.TLPBits == 1024, "tlp_bits", b.TLPBits, "512 or 1024")
	return errors.Join(errs...)
}
