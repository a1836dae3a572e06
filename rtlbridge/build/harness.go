package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// harnessDir is the folder set by SetHarness.
var harnessDir atomic.Pointer[string]

// SetHarness sets the folder of the C++ harness for builds that name none. The harness is compiled into every
// device, so only the program decides where it is: neither the folder of a manifest nor the working folder
// does.
func SetHarness(dir string) { harnessDir.Store(&dir) }

// findHarness returns the folder of the harness, for a build that names one or none.
func findHarness(given string) (string, error) {
	if dir := harnessDir.Load(); given == "" && dir != nil {
		given = *dir
	}
	if given == "" {
		return "", errors.New("the folder of the harness (verilator/harness) is not known: name it by " +
			"BuildOptions.HarnessDir or SetHarness")
	}
	if !isHarness(given) {
		return "", fmt.Errorf("%s is not the harness: it has no device.hpp", given)
	}
	return filepath.Abs(given)
}

func isHarness(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "device.hpp"))
	return err == nil
}

func isHarnessSource(path string) bool {
	ext := filepath.Ext(path)
	return (ext == ".hpp" || ext == ".cpp") &&
		!strings.Contains(path, string(filepath.Separator)+"tests"+string(filepath.Separator))
}
