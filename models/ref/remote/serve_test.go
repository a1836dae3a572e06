package remote

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/ref"
)

// far serves a reference at the other end of two pipes.
type far struct {
	t    *testing.T
	in   *io.PipeWriter
	enc  *gob.Encoder
	r    *Reader
	note noteFile
	n    uint64
	done chan error
}

// noteFile is a note's file in memory.
type noteFile struct{ text []byte }

func (f *noteFile) WriteAt(b []byte, at int64) (int, error) {
	f.text = append(f.text[:at], b...)
	return len(b), nil
}

const nonce = 77

func start(t *testing.T, own ref.Reference) *far {
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	f := &far{t: t, in: requests, enc: gob.NewEncoder(requests), r: NewReader(answers, nonce),
		done: make(chan error, 1)}
	go func() {
		defer out.Close()
		err := errors.New("the goroutine was ended")
		defer func() { f.done <- err }()
		err = Serve(in, out, &f.note, own)
	}()
	return f
}

func (f *far) ask(r Request) *Answer {
	f.t.Helper()
	f.n++
	r.N = f.n
	require.NoError(f.t, f.enc.Encode(&r))
	a, err := f.r.Receive()
	require.NoError(f.t, err)
	require.Equal(f.t, f.n, a.N)
	return a
}

func setup() *Setup {
	v := []ref.Field{{Name: "v", Bits: 8}}
	return &Setup{
		Nonce: nonce, Seed: 1, Most: 10, Observe: []string{"level"}, Parameters: map[string]string{"P": "4"},
		Streams: []ref.Stream{{Name: "s", In: true, Kind: ref.Record, Fields: v},
			{Name: "o", Kind: ref.Record, Fields: v}},
	}
}

func msg(stream int, v byte) Msg { return Msg{Stream: stream, Side: []byte{v}} }

// A run with every kind of request must have the effects that a reference in the player's process has.
func TestRun(t *testing.T) {
	f := start(t, func(p *ref.Player) {
		for range 3 {
			p.Job()
		}
		p.On("s", func(m *ref.Msg) {
			p.Expect("o", ref.Fields{"v": m.U("v")}, nil)
			p.Answer("s", p.Observed("level"), ref.Fields{"v": len(p.Parameter("P"))}, nil)
		})
		p.Done(func() bool { return p.Observed("level") == 9 })
	})
	s := setup()
	s.Some, s.Keep = true, [][2]int{{1, 1}}
	a := f.ask(Request{Kind: Begin, Setup: s})
	require.Equal(t, []StreamUse{{Listens: true}, {}}, a.Uses)
	require.Equal(t, 3, a.Jobs)
	require.True(t, a.HasDone)
	a = f.ask(Request{Kind: Deliver, Msgs: []Msg{msg(0, 5)}, Observed: []uint64{2}})
	require.Equal(t, []Offer{{Stream: 0, Delay: 2, Side: []byte{1}, Answer: true}}, a.Offers)
	require.EqualValues(t, 1, a.Told)
	require.True(t, a.Uses[1].Listens)
	require.False(t, f.ask(Request{Kind: Over, Observed: []uint64{9}}).Over, "the output is due")
	a = f.ask(Request{Kind: Deliver, Msgs: []Msg{msg(1, 5)}})
	require.Nil(t, a.Failure)
	require.False(t, f.ask(Request{Kind: Over, Observed: []uint64{8}}).Over)
	require.True(t, f.ask(Request{Kind: Over, Observed: []uint64{9}}).Over)
	a = f.ask(Request{Kind: End})
	require.Equal(t, 1, a.Judged)
	require.Equal(t, []ref.Tally{{Stream: "s", In: true, Told: 1, Covered: true},
		{Stream: "o", Told: 1, Expected: 1, Compared: 1, Covered: true}}, a.Tallies)
	require.NoError(t, f.in.Close())
	require.NoError(t, <-f.done)
}

// After the first fault of the device, later transactions are not passed to the reference.
func TestFault(t *testing.T) {
	f := start(t, func(p *ref.Player) {
		p.Nothing("o")
		p.On("s", func(m *ref.Msg) { panic("it is over") })
	})
	f.ask(Request{Kind: Begin, Setup: setup()})
	a := f.ask(Request{Kind: Deliver, Msgs: []Msg{msg(1, 5), msg(0, 1)}})
	require.ErrorContains(t, a.Failure, "o[0] transaction: expected none, got v=0x5")
	require.Nil(t, a.Mistake)
	require.EqualValues(t, 2, a.Told)
}

// An answer contains the text of a mistake and its position. Here the stack has no frame of a user's package, so
// that is the position of the reference.
func TestMistake(t *testing.T) {
	for text, wrong := range map[string]func(p *ref.Player){
		"panic: no idea":                     func(*ref.Player) { panic("no idea") },
		`the device has no stream "x"`:       func(p *ref.Player) { p.Expect("x", nil, nil) },
		"more than 10 transactions in a run": func(p *ref.Player) { forever(p) },
		"panic called with nil argument":     func(*ref.Player) { panic(nil) },
		"runtime.Goexit":                     func(*ref.Player) { runtime.Goexit() },
	} {
		own := func(p *ref.Player) { p.On("s", func(*ref.Msg) { wrong(p) }) }
		f := start(t, own)
		f.ask(Request{Kind: Begin, Setup: setup()})
		a := f.ask(Request{Kind: Deliver, Msgs: []Msg{msg(0, 1)}})
		require.NotNil(t, a.Mistake, text)
		require.Contains(t, a.Mistake.What, text)
		file, line := ref.Place(own)
		require.Equal(t, []any{file, line}, []any{a.Mistake.File, a.Mistake.Line})
		require.Empty(t, a.Offers, "of a reference that is wrong")
	}
}

func forever(p *ref.Player) {
	for {
		p.Give("s", 0, nil, nil)
	}
}

// The note names the call in progress, and later says that the call has returned.
func TestNote(t *testing.T) {
	var during Note
	f := &far{}
	f = start(t, func(p *ref.Player) {
		p.On("s", func(*ref.Msg) { during = ParseNote(f.note.text) })
	})
	f.ask(Request{Kind: Begin, Setup: setup()})
	f.ask(Request{Kind: Deliver, Msgs: []Msg{msg(0, 1)}})
	require.Equal(t, "On of stream s", during.What)
	require.EqualValues(t, 2, during.Calls)
	require.False(t, during.Over)
	require.NotEmpty(t, during.File)
	after := ParseNote(f.note.text)
	require.True(t, after.Over)
	during.Over = true
	require.Equal(t, during, after)
	for _, text := range []string{"", "3", "3\ttrue\tOn\tf.go\t7", "x\ttrue\tOn\tf.go\t7\n", "3\t?\tOn\tf.go\t7\n",
		"3\ttrue\tOn\tf.go\t?\n", "3\ttrue\n"} {
		require.Zero(t, ParseNote([]byte(text)), "%q", text)
	}
}

// Bytes that are not an answer of the run are a FrameError. A request out of turn ends the process with an error.
func TestOddFrames(t *testing.T) {
	var good bytes.Buffer
	require.NoError(t, newWriter(&good).send(nonce, &Answer{N: 4}))
	a, err := NewReader(bytes.NewReader(good.Bytes()), nonce).Receive()
	require.NoError(t, err)
	require.EqualValues(t, 4, a.N)
	for what, b := range map[string][]byte{
		"another run's": append([]byte{1}, good.Bytes()[1:]...),
		"text":          []byte(`{"schema":2,"result":"pass"}`),
		"too long":      append(append(bytes.Clone(good.Bytes()[:8]), 0, 0, 0, 0, 0, 0, 1, 0), good.Bytes()[16:]...),
		"no gob":        append(bytes.Clone(good.Bytes()[:16]), make([]byte, good.Len()-16)...),
	} {
		_, err := NewReader(bytes.NewReader(b), nonce).Receive()
		var odd *FrameError
		require.ErrorAs(t, err, &odd, what)
	}
	_, err = NewReader(bytes.NewReader(good.Bytes()[:good.Len()-1]), nonce).Receive()
	require.ErrorIs(t, err, io.EOF)

	f := start(t, func(*ref.Player) {})
	require.NoError(t, f.enc.Encode(&Request{N: 1, Kind: Deliver}))
	require.ErrorContains(t, <-f.done, "a run begins once, with a setup")
}
