package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
)

// listOf returns the workloads of a text.
func listOf(t *testing.T, text string) (list List) {
	var file struct {
		Workloads []Spec `yaml:"workloads"`
	}
	_, err := specfile.Decode("f.yaml", []byte(text), nil, &file)
	require.NoError(t, err)
	for i := range file.Workloads {
		list = append(list, &file.Workloads[i])
	}
	return list
}

func pathOf(int) field.Path { return "w" }

// TestPairs checks which servers talk, and how many applications and queue pairs each has.
func TestPairs(t *testing.T) {
	list := listOf(t, "workloads:\n- {from: [2, 3], to: [0, 1], processes: 2, queue_pairs: 3, both_ways: true}\n"+
		"- {kind: list_walk, sizes: [64], from: 3, to: 2, name: walk}\n")
	require.Equal(t, []Pair{{2, 0}, {2, 1}, {3, 0}, {3, 1}}, list[0].Pairs())
	require.Equal(t, []int{4, 4, 5, 5, 0}, []int{list.Applications(0), list.Applications(1), list.Applications(2),
		list.Applications(3), list.Applications(4)})
	require.Equal(t, 4*2*6*64, list[0].Messages())
	require.Equal(t, 4*3*2, list[0].QueuePairsOn(0))
	require.Equal(t, list[0].Messages()+64, list.Messages())
	require.Equal(t, []bool{false, true, false}, []bool{list.Serves(3), list.Serves(2), list.Serves(0)})
	require.Equal(t, []string{"0", "walk"}, []string{list.Label(0), list.Label(1)})
	require.Empty(t, list[:1].Label(0))
	require.Equal(t, list[0].Seed, list[1].Seed)
	require.NotEqual(t, list.Seeded(0).Seed, list.Seeded(1).Seed, "each has contents of its own")
	require.NoError(t, list.Validate(4, pathOf))
}

// TestTooManyMessages checks that the messages of all workloads together have a limit.
func TestTooManyMessages(t *testing.T) {
	list := listOf(t, "workloads: [{count: 1048576, queue_pairs: 4, from: [1, 2, 3]}]")
	list[0].To = Servers{0}
	require.EqualError(t, list.Validate(4, pathOf), "w.count 1048576: the workloads make 12582912 messages between "+
		"all their servers, answers not counted: want at most 4194304")
	list = listOf(t, "workloads: [{kind: echo, count: 1048576, queue_pairs: 4}]")
	require.NoError(t, list.Validate(2, pathOf), "answers are not counted")
}

// TestPhasesInOrder checks the order in which workloads begin and end: an end before the events of its time, and so
// before a begin at that time.
func TestPhasesInOrder(t *testing.T) {
	end := quantity.Time(9000)
	list := listOf(t, "workloads: [{begin: 9ns, end: 12ns}, {begin: 0.1ns}, {begin: 5ns}]")
	list[2].End = &end
	require.EqualValues(t, 12_000, list.LastPhase())
	g := &Group{list: list, begun: make([]bool, len(list)), Runs: make([]Run, len(list))}
	require.NoError(t, g.Begin(50))
	var at []simcore.Ps
	var which []int
	for _, p := range g.phases {
		at, which = append(at, p.at), append(which, p.workload)
	}
	require.Equal(t, []simcore.Ps{150, 5050, 9049, 9050, 12_049}, at)
	require.Equal(t, []int{1, 2, 2, 0, 0}, which)
	require.True(t, g.MoreBegin())
	g.EndPhases()
	_, ok := g.NextPhase()
	require.False(t, ok)
}
