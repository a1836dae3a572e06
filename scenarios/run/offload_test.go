package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/apps"
	"nictwin/stack/offload/handlers"
)

// lying is an offload engine with wrong answers.
type lying struct {
	apps.Engine
	what string
}

func (l lying) Answer(b []byte, q *apps.Query, nodes int, value []byte) int {
	n := l.Engine.Answer(b, q, nodes, value)
	if l.what == "value" {
		b[n-1] ^= 1
	}
	return n
}

func (l lying) Number(answer []byte) (uint32, error) {
	n, err := l.Engine.Number(answer)
	if l.what == "number" {
		n += 99
	}
	return n, err
}

func (l lying) Request(b []byte, q *apps.Query) {
	again := *q
	if l.what == "twice" {
		again.Number = 0
	}
	if l.what == "beyond" && q.Number == 3 {
		again.Head = 1 << 40
	}
	if l.what == "miss" {
		again.MaxNodes = 2
	}
	l.Engine.Request(b, &again)
}

// withLies is FlexiNS with a lying offload engine.
type withLies struct {
	*flexins
	what string
}

func (w withLies) engine() apps.Engine {
	if e := w.flexins.engine(); e != nil {
		return lying{e, w.what}
	}
	return nil
}

// Applications check every byte of an answer, and the request that it belongs to.
func TestWrongAnswersAreFound(t *testing.T) {
	before := stacks
	t.Cleanup(func() { stacks = before })
	for what, want := range map[string]string{
		"":       "",
		"value":  "client of flow 0: message 0 (80 B): byte 79 at",
		"miss":   "message 0 (80 B): byte 8 at",
		"beyond": "1 handlers were stopped: expected 0: server Server[1]: offload: handler of code 0x1235",
		"number": "an answer to request 99 (80 B, <nil>): expected one below 4 without an answer",
		"twice":  "an answer to request 0 (80 B, <nil>): expected one below",
	} {
		stacks = map[StackKind]stackKind{StackFlexiNS: {fitsFlexiNS, func(w *world, server int) (Stack, error) {
			s, err := openFlexiNS(w, server)
			return withLies{s.(*flexins), what}, err
		}}}
		c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {kind: list_walk, "+
			"sizes: [64], count: 8, depth: 4}")
		p, err := c.Play(t.Context(), Options{})
		require.NoError(t, err)
		if want == "" {
			require.True(t, p.Pass(), texts(p))
			require.Equal(t, 8, p.Result.Messages)
			continue
		}
		require.Contains(t, texts(p), want, what)
	}
}

// The cores of an engine share the requests of one queue pair, and a card without enough cores is refused.
func TestEngineCores(t *testing.T) {
	before := stacks
	t.Cleanup(func() { stacks = before })
	var opened []*flexins
	stacks = map[StackKind]stackKind{StackFlexiNS: {fitsFlexiNS, func(w *world, server int) (Stack, error) {
		s, err := openFlexiNS(w, server)
		opened = append(opened, s.(*flexins))
		return s, err
	}}}
	const head = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks:\n- kind: flexins\n  flexins: "
	const work = "workload: {kind: list_walk, sizes: [64], count: 25}"
	list, err := Parse("f.yaml", []byte(head+"{engine_cores: 3}\n"+work))
	require.NoError(t, err)
	p, err := list[0].Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	var requests []uint64
	for _, e := range opened[1].node.Engines() {
		requests = append(requests, e.Stats().Requests)
	}
	require.Equal(t, []uint64{9, 8, 8}, requests)
	require.Empty(t, opened[0].node.Engines(), "nobody asks the first server")
	for options, want := range map[string]string{
		"{engine_cores: 4}": "f.yaml:6: stacks[0].flexins.engine_cores 4: the card has 16 cores, one of them for " +
			"control, and stacks[0].flexins.data_cores is 12: want 3 at most",
		"{engine_cores: 2, data_cores: 14}": "engine_cores 2: the card has 16 cores, one of them for control, and " +
			"stacks[0].flexins.data_cores is 14: want 1 at most",
		"{engine_cores: 0}":  "f.yaml:6: stacks[0].flexins.engine_cores 0: want 1 to 16",
		"{engine_cores: 17}": "f.yaml:6: stacks[0].flexins.engine_cores 17: want 1 to 16",
	} {
		_, err := Parse("f.yaml", []byte(head+options+"\n"+work))
		require.ErrorContains(t, err, want)
	}
}

// The handlers of the engine read the nodes that applications write.
func TestNodesAreThoseOfHandlers(t *testing.T) {
	a, b, value := make([]byte, apps.NodeBytes), make([]byte, handlers.NodeBytes), make([]byte, handlers.ValueBytes)
	for i := range value {
		value[i] = byte(i + 1)
	}
	apps.EncodeNode(a, 77, value, 1<<40+3)
	handlers.EncodeNode(b, 77, value, 1<<40+3)
	require.Equal(t, b, a)
}

// If handlers need more memory than the offload engine has, they are stopped, and the case reports them.
func TestHandlersWithoutMemory(t *testing.T) {
	c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {offload: {memory: "+
		"4096}}}]\nworkload: {kind: batched_read, sizes: [8192], count: 2}")
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Contains(t, texts(p), "2 handlers were stopped: expected 0")
	require.Contains(t, texts(p), "asks for 8200 B: want 1 to 4096 more")
}
