package pipeline

import (
	"maps"
	"path/filepath"
	"slices"

	"nictwin/models/board"
	"nictwin/models/sim/specfile"
	"nictwin/rtlbridge/build"
	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// Add adds an input that the run's texts call `shown`: there, its name in the bundle will replace this one.
func (x *Bundling) Add(role bundle.Role, shown string, text []byte) {
	x.Bundle.Add(role, shown, text)
	list := x.Bundle.Info.Inputs
	x.Names[shown] = list[len(list)-1].Name
}

// AddFiles adds files; shown returns the name of each in the run's texts.
func (x *Bundling) AddFiles(role bundle.Role, paths []string, shown func(path string) string) error {
	for _, path := range paths {
		text, err := files.Read(path, bundle.MaxBytes)
		if err != nil {
			return err
		}
		x.Add(role, shown(path), text)
	}
	return nil
}

// AddShrunk adds the shrunk input in place of the run's inputs, and changes the flags that its command needs. shown are
// the names by which the run's texts call its inputs; in the bundle, the texts have the base names.
func (x *Bundling) AddShrunk(s *result.Shrunk, shown ...string) {
	for _, path := range shown {
		x.Names[path] = filepath.Base(path)
	}
	for _, f := range s.Inputs {
		x.Bundle.Add(bundle.Role(f.Role), f.Name, f.Data)
	}
	i := &x.Bundle.Info
	i.Original, i.Shrunk = sizes(s.Original), sizes(s.Shrunk)
	i.Flags = slices.DeleteFunc(slices.Clone(i.Flags), func(f string) bool {
		name, _ := bundle.Flag(f)
		_, differs := s.Settings[name]
		return differs
	})
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		if value := s.Settings[name]; value != "" {
			i.Flags = append(i.Flags, "--"+name+"="+value)
		}
	}
}

// sizes returns the size of an input in the form of bundle.Info.
func sizes(s result.InputSize) map[string]int {
	all := map[string]int{"packets": s.Packets, "entries": s.Entries, "messages": s.Messages}
	maps.DeleteFunc(all, func(_ string, n int) bool { return n == 0 })
	return all
}

// AddBoard adds a board with every field except its devices, which the command line selects.
func (x *Bundling) AddBoard(nameOrFile string) error {
	if nameOrFile == "" {
		return nil
	}
	s, err := boards.Load(nameOrFile)
	if err != nil {
		return err
	}
	for i := range s.Servers {
		for k := range s.Servers[i].Cards {
			s.Servers[i].Cards[k].Device = board.DeviceSpec{}
		}
	}
	if s.Fleet != nil {
		s.Fleet.Card.Device = board.DeviceSpec{}
	}
	text, err := specfile.Marshal(s)
	if err != nil {
		return err
	}
	x.Bundle.Add(bundle.Board, "board.yaml", text)
	return nil
}

// Untuned returns a build variant that needs no preparation: a tuned build gives the same results as one for speed.
func Untuned(variant string) string {
	if variant == string(build.VariantTuned) {
		return string(build.VariantSpeed)
	}
	return variant
}
