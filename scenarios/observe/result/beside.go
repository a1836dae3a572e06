package result

import (
	"fmt"
	"slices"

	"nictwin/scenarios/shell/files"
)

// OpenBeside opens a folder for a report and leaves the files in it where they are. It must be new, empty, or a folder
// of artifacts, unless overwrite is set. A new or empty one gets the marker of this program's folders.
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
