package result_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
)

// TestComplete checks that a lost, doubled or foreign shard is refused by name: its mismatches would be missing.
func TestComplete(t *testing.T) {
	shard := func(text string, seed uint64) *result.Object { return &result.Object{Shard: text, Seed: seed} }
	dirs := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		list []*result.Object
		want string
	}{
		"all":       {[]*result.Object{shard("2/3", 1), shard("1/3", 1), shard("3/3", 1)}, ""},
		"unsharded": {[]*result.Object{shard("", 1), shard("", 2)}, ""},
		"lost": {[]*result.Object{shard("1/3", 1), shard("3/3", 1)},
			"there are 2 folders: want those of all 3 shards"},
		"doubled": {[]*result.Object{shard("1/2", 1), shard("1/2", 1)}, "a and b both have shard 1/2"},
		"other": {[]*result.Object{shard("1/2", 1), shard("2/3", 1)},
			"b has shard 2/3 of seed 1: want shards of one run"},
		"seed":      {[]*result.Object{shard("1/2", 1), shard("2/2", 9)}, "b has shard 2/2 of seed 9"},
		"mixed":     {[]*result.Object{shard("1/2", 1), shard("", 1)}, "b has shard none"},
		"mixed too": {[]*result.Object{shard("", 1), shard("1/2", 1)}, "a has shard none"},
	} {
		err := result.Complete(dirs[:len(c.list)], c.list)
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
}
