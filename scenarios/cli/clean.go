package cli

import (
	"time"

	"nictwin/rtlbridge/build/cache"
)

// DUTClean says what goes from the build cache, beside what killed builds left.
type DUTClean struct {
	All      bool
	ByAge    bool // builds that were not used for Older days
	Older    int
	DryRun   bool
	CacheDir string // empty for the user's
}

const (
	day      = 24 * time.Hour
	mostDays = 36_500
)

// Run cleans the build cache up. What was done is told even with an error.
func (c *DUTClean) Run() (*cache.Cleaned, error) {
	switch {
	case c.All && c.ByAge:
		return nil, Usagef("--all and --older: want one of them")
	case c.ByAge && (c.Older < 1 || c.Older > mostDays):
		return nil, Usagef("--older %d: want 1 to %d days, or --all", c.Older, mostDays)
	}
	o := cache.CleanOptions{CacheDir: c.CacheDir, All: c.All, DryRun: c.DryRun}
	if c.ByAge {
		o.Older = time.Duration(c.Older) * day
	}
	return cache.Clean(o)
}
