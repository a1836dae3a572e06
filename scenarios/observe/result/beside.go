package result

import (
	"fmt"
	"slices"

	"nictwin/scenarios/shell/files"
)

// OpenBeside opens a folder for a report without setting aside anything: a new one, an empty one, a folder of
// artifacts or, if overwrite is set, any folder. A new or empty one is marked as ours.
func OpenBeside(dir string, overwrite bool) (*files.Folder, error) {
	made, err := files.Make(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, made: made}
	if f.Files, err = files.OpenFolder(dir); err != nil {
		return nil, err
	}
	names, err := f.Files.Names()
	if err == nil {
		if err = f.foreign(names); err != nil {
			err = fmt.Errorf("%w; choose another folder, or add to this one by --overwrite", err)
		}
		if overwrite {
			err = nil
		}
	}
	if err == nil && !slices.Contains(names, Marker) {
		err = Mark(f.Files)
	}
	if err != nil {
		f.Drop() // nothing was written
		return nil, err
	}
	return f.Files, nil
}
