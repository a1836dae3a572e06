package kind

import "nictwin/models/sim/field"

// KV is the kind of gets and puts of a key-value store, which each flow has for itself in the server's memory.
const KV Name = "kv"

// KVSpec describes a store and its requests.
type KVSpec struct {
	Pairs int `yaml:"pairs"`              // keys with a value
	Key   int `yaml:"key" unit:"bytes"`   // length of keys
	Value int `yaml:"value" unit:"bytes"` // length of values
	Gets  int `yaml:"gets"`               // share of requests that get a value
	Puts  int `yaml:"puts"`               // share of requests that put one
}

// DefaultKV returns the store of the CEIO study: 1,000 pairs of keys of 16 B and values of 64 B,
// and as many gets as puts.
func DefaultKV() KVSpec { return KVSpec{Pairs: 1000, Key: 16, Value: 64, Gets: 1, Puts: 1} }

type kv struct{ plain }

func (kv) Name() Name              { return KV }
func (kv) Traits() Traits          { return Traits{Sends: true, Receives: true, TwoWay: true} }
func (kv) Transports() []Transport { return []Transport{UDP} }
func (kv) Options() []Option       { return []Option{KVOption, DepthOption} }

func (kv) validate(f *Fields, bad *Faults) {
	bad.Add(field.Under("kv", f.KV.Validate()))
}

// Validate returns every error of the spec, each a field.Error.
func (s *KVSpec) Validate() error {
	const mostPairs, mostShare, leastKey, mostKey, leastValue, mostValue = 1 << 20, 1 << 16, 8, 256, 4, 8192
	var bad Faults
	bad.Check(s.Pairs >= 1 && s.Pairs <= mostPairs, "pairs", "%d: want 1 to %d", s.Pairs, mostPairs)
	bad.Check(s.Key >= leastKey && s.Key <= mostKey, "key", "%d: want %d to %d", s.Key, leastKey, mostKey)
	bad.Check(s.Value >= leastValue && s.Value <= mostValue, "value", "%d: want %d to %d", s.Value, leastValue,
		mostValue)
	bad.Check(s.Gets >= 0 && s.Gets <= mostShare, "gets", "%d: want 0 to %d", s.Gets, mostShare)
	bad.Check(s.Puts >= 0 && s.Puts <= mostShare-s.Gets, "puts", "%d: want 0 or more, and %d at most with %v", s.Puts,
		mostShare, field.Path("gets"))
	bad.Check(s.Gets != 0 || s.Puts != 0, "gets", "0: and no %v: want one of them", field.Path("puts"))
	return bad.Err()
}
