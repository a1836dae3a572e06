// Package fixedseed makes property tests repeatable: by default rapid seeds
// itself from the clock, so that a run could fail today and pass tomorrow on the
// same commit.
//
// Tests import it with a blank import, for its effect; nothing else imports it. A test
// of ci/house checks that each package with property tests has the import.
//
// Invariant: RAPID_SEED and -rapid.seed take precedence over Seed.
package fixedseed

import (
	"flag"
	"os"
	"strconv"

	_ "pgregory.net/rapid" // defines the flag
)

// Seed is rapid's seed unless the environment or a flag sets another.
const Seed = 1

func init() {
	if _, set := os.LookupEnv("RAPID_SEED"); set {
		return
	}
	if err := flag.Set("rapid.seed", strconv.Itoa(Seed)); err != nil {
		panic("fixedseed: rapid no longer has the flag: " + err.Error())
	}
}
