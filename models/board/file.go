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
	"nictwin/models/server/host/dsa"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/specfile"
)

// presets lists the preset functions of board files, by the type of spec that the key preset stands
// in.
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
	reflect.TypeFor[dsa.Spec]():       specfile.Of(dsa.Preset),
	reflect.TypeFor[etherlink.Spec](): specfile.Of(etherlink.Preset),
}

func value(s *SwitchSpec, err error) (SwitchSpec, error) {
	if err != nil {
		return SwitchSpec{}, err
	}
	return *s, nil
}

// Presets returns a copy of the presets, for files that contain a board among other things.
func Presets() specfile.Presets { return maps.Clone(presets) }

// DefaultRackSpec returns the values that a board file starts from: the name Rack, and ports
// that no cable connects (NetworkOpen).
func DefaultRackSpec() RackSpec {
	return RackSpec{Name: "Rack", Network: NetworkSpec{Kind: NetworkOpen}}
}

// ParseRack reads a board file: YAML, of which JSON is a subset. Errors give the file as
// name, with the line and, for fields, the path.
func ParseRack(name string, text []byte) (RackSpec, error) {
	s := DefaultRackSpec()
	places, err := specfile.Decode(name, text, presets, &s)
	if err != nil {
		return s, err
	}
	return s, places.Locate(s.Validate())
}
