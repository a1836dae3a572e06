package manifest

import (
	"fmt"
	"math/big"
	"regexp"
	"sort"

	"nictwin/models/sim/specfile"
)

// parseConstant reads a tie-off constant.
func parseConstant(s string) (*big.Int, error) {
	if err := specfile.CheckOctal(s); err != nil {
		return nil, fmt.Errorf("constant %w", err)
	}
	v, ok := new(big.Int).SetString(s, 0)
	if !ok || v.Sign() < 0 {
		return nil, fmt.Errorf("constant %q: needs a non-negative number such as 5, 0x1f or 0b101", s)
	}
	return v, nil
}

var (
	reName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	reSignal = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
