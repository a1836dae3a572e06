package akitaview

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Options select what to open; the zero value opens nothing.
type Options struct {
	Monitor int    // TCP port of the monitor, 1024 to 65535; 0: no monitor is opened
	Trace   string // file for the trace, NAME.sqlite3, which must not exist; empty: no trace is written
}

// suffix is the extension that Akita appends to the names of traces.
const suffix = ".sqlite3"

// Wanted reports whether there is anything to open.
func (o *Options) Wanted() bool { return o.Monitor != 0 || o.Trace != "" }

// Validate returns every error of the options, in programs built without the viewer as well.
func (o *Options) Validate() error {
	var errs []error
	if o.Monitor != 0 && (o.Monitor < 1024 || o.Monitor > 65535) {
		errs = append(errs, fmt.Errorf("--akita-monitor %d: want a port, 1024 to 65535", o.Monitor))
	}
	if o.Trace != "" && (!strings.HasSuffix(o.Trace, suffix) || o.Trace == suffix ||
		strings.HasSuffix(o.Trace, "/"+suffix)) {
		errs = append(errs, fmt.Errorf("--akita-trace %q: want a name that ends in %s", o.Trace, suffix))
	}
	if strings.ContainsAny(o.Trace, "?#%") {
		errs = append(errs, fmt.Errorf("--akita-trace %q: want a name without ?, # and %%, which SQLite does not "+
			"take as parts of one", o.Trace))
	}
	if o.Trace != "" {
		errs = append(errs, newFile(o.Trace))
	}
	if o.Wanted() && !built {
		errs = append(errs, errors.New("--akita-monitor, --akita-trace: this program is built without them: "+
			"want one of `make build-akitaview`"))
	}
	return errors.Join(errs...)
}

// newFile refuses a file that exists, or whose folder does not exist.
func newFile(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("--akita-trace %s already exists: want a new name", file)
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return fmt.Errorf("--akita-trace %s: there is no folder %s: want one that is there", file, filepath.Dir(file))
	}
	return nil
}
