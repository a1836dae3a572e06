package own

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const deadlock = `fatal error: all goroutines are asleep - deadlock!

goroutine 1 [chan receive]:
nictwin/userref.wait(...)
	nictwin/userref/more.go:7
nictwin/userref.Reference.func1(0xc000010000)
	nictwin/userref/ref.go:12 +0x2f
nictwin/models/ref.(*Player).Deliver(0xc000010000, 0x1)
	nictwin/models/ref/run.go:13 +0x9f
`

const elsewhere = `panic: elsewhere

goroutine 34 gp=0xc000 m=3 mp=0xc001 [running]:
strings.Repeat({0x1, 0x1}, 0xffffffffffffffff)
	strings/strings.go:624 +0x5cd fp=0xc00 sp=0xc00 pc=0x49
nictwin/userref.(*host).answer.func2(...)
	nictwin/userref/host.go:31
created by nictwin/userref.Reference in goroutine 1
	nictwin/userref/ref.go:9 +0x25

goroutine 1 [chan receive]:
nictwin/userref.Reference(0xc000010000)
	nictwin/userref/ref.go:14 +0x2f
`

const byTimer = `panic: out of time

goroutine 7 [running]:
panic({0x1, 0x2})
	runtime/panic.go:1 +0x5
created by nictwin/userref.Reference in goroutine 1
	nictwin/userref/ref.go:9 +0x25
`

// readTrace finds the line of the reference at which the program panicked, or was when it was asked for a trace.
func TestReadTrace(t *testing.T) {
	for _, c := range []struct {
		trace, goroutine, what, file string
		line                         int
	}{
		{deadlock, "", "fatal error: all goroutines are asleep - deadlock!", "nictwin/userref/more.go", 7},
		{elsewhere, "", "panic: elsewhere", "nictwin/userref/host.go", 31},
		{elsewhere, "goroutine 1 ", "panic: elsewhere", "nictwin/userref/ref.go", 14},
		{byTimer, "", "panic: out of time", "nictwin/userref/ref.go", 9},
		{"SIGQUIT: quit\nPC=0x1\n\ngoroutine 0 [idle]:\n", "goroutine 1 ", "SIGQUIT: quit", "", 0},
		{"runtime: goroutine stack exceeds 100-byte limit\nfatal error: stack overflow\n", "",
			"fatal error: stack overflow", "", 0},
		{"panic: cut\n\ngoroutine 1 [running]:\nnictwin/userref.Reference(0xc000010000)", "", "panic: cut", "", 0},
		{"", "", "", "", 0},
	} {
		require.Equal(t, traced{c.what, c.file, c.line}, readTrace(c.trace, c.goroutine), c.trace)
	}
	p := &Program{Dir: "my/ref"}
	require.Equal(t, "my/ref/host.go", p.userFile("nictwin/userref/host.go"))
	require.Equal(t, "parser.y", p.userFile("parser.y"), "as the reference itself names it")
}

func TestOutOfMemory(t *testing.T) {
	for what, is := range map[string]bool{
		"fatal error: runtime: out of memory": true, "fatal error: out of memory allocating heap arena metadata": true,
		"fatal error: runtime: cannot allocate memory": true, "panic: no memory of that": false,
	} {
		require.Equal(t, is, (&traced{what: what}).outOfMemory(), what)
	}
}

// pumped has a pump copy a text, as a process's output; it returns what the pump showed, and the trace that it kept.
func pumped(t *testing.T, text string, p *pump, s *sink) (shown, kept string) {
	t.Helper()
	var to bytes.Buffer
	s.to = &to
	p.to, p.done = s, make(chan struct{})
	r, w, err := os.Pipe()
	require.NoError(t, err)
	go p.run(r)
	_, err = w.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	<-p.done
	return to.String(), p.kept.String()
}

// A pump shows ordinary output and keeps a trace. The middle of a long line never counts as the beginning of a trace.
func TestPump(t *testing.T) {
	shown, kept := pumped(t, "words\npanic: no\n\ngoroutine 1:\n", &pump{trace: true}, &sink{})
	require.Equal(t, "words\n", shown)
	require.Equal(t, "panic: no\n\ngoroutine 1:\n", kept)
	shown, kept = pumped(t, "words\npanic: no\n", &pump{}, &sink{})
	require.Equal(t, "words\npanic: no\n", shown, "stdout has no traces")
	require.Empty(t, kept)
	long := strings.Repeat("x", 64<<10) + "panic: no\nlast"
	shown, kept = pumped(t, long, &pump{trace: true}, &sink{})
	require.Equal(t, long, shown)
	require.Empty(t, kept)
}

// Output is cut at its limit with a notice; muted output does not count.
func TestOutputIsBounded(t *testing.T) {
	var s sink
	p := pump{}
	shown, _ := pumped(t, strings.Repeat("line of sixteen\n", 70_000), &p, &s)
	require.True(t, strings.HasSuffix(shown, "\nthe reference has written 1048576 bytes: no more of its output is "+
		"shown\n"), "%d bytes", len(shown))
	require.EqualValues(t, 16*70_000, p.bytes.Load())
	shown, _ = pumped(t, "more\n", &pump{}, &s)
	require.Empty(t, shown)

	q := &Program{}
	again := q.Mute()
	shown, _ = pumped(t, "quiet\n", &pump{}, &q.output)
	require.Empty(t, shown)
	again()
	shown, _ = pumped(t, "loud\n", &pump{}, &q.output)
	require.Equal(t, "loud\n", shown)
}
