// Package fixedseed makes property tests repeat: rapid seeds itself from the
// clock unless it is told otherwise, so that a run could fail today and pass
// tomorrow on the same commit.
//
// Tests import it for its effect, by a blank import; nothing else does. A test
// of ci/house holds that each package with property tests has the import.
//
// Invariant: RAPID_SEED and -rapid.seed still choose; Seed is only the default.
package fixedseed

import (
	"flag"
	"os"
	"strconv"

	_ "pgregory.net/rapid" // defines the flag
)

// Seed is where rapid starts unless the environment or a flag says otherwise.
const Seed = 1

func init() {
	if _, told := os.LookupEnv("RAPID_SEED"); told {
		return
	}
	if err := flag.Set("rapid.seed", strconv.Itoa(Seed)); err != nil {
		panic("fixedseed: rapid no longer has the flag: " + err.Error())
	}
}
