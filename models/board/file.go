package board

import (
	"maps"
	"reflect"

	"nictwin/models/fabric/etherlink"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/gpu"
	"nictwin/models/server/host"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/specfile"
)

// presets are what the key preset may name in a board file, by what it stands in.
var presets = specfile.Presets{
	reflect.TypeFor[RackSpec]():   specfile.Of(RackPreset),
	reflect.TypeFor[ServerSpec](): specfile.Of(ServerPreset),
	reflect.TypeFor[CardSpec]():   specfile.Of(CardPreset),
	reflect.TypeFor[SwitchSpec](): specfile.Of(func(name string) (SwitchSpec,
		error) {
		return value(SwitchPreset(name))
	}),
	reflect.TypeFor[pcielink.Spec]():  specfile.Of(pcielink.Preset),
	reflect.TypeFor[armcache.Spec]():  specfile.Of(armcache.Preset),
	reflect.TypeFor[host.Spec]():      specfile.Of(HostPreset),
	reflect.TypeFor[dram.Spec]():      specfile.Of(dram.Preset),
	reflect.TypeFor[gpu.Spec]():       specfile.Of(gpu.Preset),
	reflect.TypeFor[mmio.Spec]():      specfile.Of(mmio.Preset),
	reflect.TypeFor[etherlink.Spec](): specfile.Of(etherlink.Preset),
}

func value(s *SwitchSpec, err error) (SwitchSpec, error) {
	if err != nil {
		return SwitchSpec{}, err
	}
	return *s, nil
}

// Presets are the same for files that have a board among other things.
func Presets() specfile.Presets { return maps.Clone(presets) }

// DefaultRackSpec is what a board file begins from: a name, and open ports.
func DefaultRackSpec() RackSpec {
	return RackSpec{Name: "Rack", Network: NetworkSpec{Kind: NetworkOpen}}
}

// ParseRack reads a board file: YAML, or the JSON that is YAML, too. name is what errors call it. Every error names
// the line, and those of fields their paths.
func ParseRack(name string, text []byte) (RackSpec, error) {
	s := DefaultRackSpec()
	places, err := specfile.Decode(name, text, presets, &s)
	if err != nil {
		return s, err
	}
	return s, places.Locate(s.Validate())
}
