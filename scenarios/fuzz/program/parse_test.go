package program

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramsThatAreNone(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{`, "program: it ends before the object does"},
		{`{"schema":1,"nonsense":5}`, "nonsense"},
		{`{"schema":9,"board":{"ports":1},"ops":[]}`, "schema"},
		{`{"schema":1,"board":{"ports":3},"ops":[]}`, "board.ports is 3: want 1 to 2"},
		{`{"schema":1,"board":{"ports":1,"build":"odd"},"ops":[]}`,
			`build "odd": want one of default, small, large, bare`},
		{`{"schema":1,"board":{"ports":1,"rcb":64},"ops":[]}`, "board.mps is 0: want 128, 256"},
		{`{"schema":1,"board":{"ports":1,"mps":8192,"rcb":64},"ops":[]}`, "board.mps is 8192: want 128, 256"},
		{`{"schema":1,"board":{"ports":1,"mps":128,"rcb":256},"ops":[]}`, "board.rcb is 256: want 64 or 128"},
		{`{"schema":1,"board":{"ports":1,"burst":11,"mps":128,"rcb":64},"ops":[]}`, "board.burst is 11: want 0 to 10"},
		{`{"schema":1,"board":{"ports":1,"stall":91,"mps":128,"rcb":64},"ops":[]}`, "board.stall is 91: want 0 to 90"},
		{`{"schema":1,"board":{"ports":1},"ops":[{}]}`, "operation 0: has no kind: want one of rx_queue, tx_queue, "},
		{`{"schema":1,"board":{"ports":1},"ops":[{"quiet":{},"mend":{}}]}`,
			"operation 0: has 2 kinds, mend and quiet: want one"},
		{`{"schema":1,"board":{"ports":1},"ops":[{"write":{"reg":"NONE","value":1}}]}`, "no such register"},
		{`{"schema":1,"board":{"ports":1},"ops":[{"fault":{"kind":"odd","of":"rx_ring"}}]}`, "odd"},
		{`{"schema":1,"board":{"ports":1},"ops":[{"tlp":{"header":"00"}}]}`, "want 16 bytes"},
		{`{"schema":1,"board":{"ports":1},"ops":[]} {}`, "something follows"},
		{`{"schema":1,"board":{"ports":1},"ops":[{"play":{"frames":[{"l3":5}]}}]}`,
			"operation 0 (play): l3 is 5: want 0, 4 or 6"},
		{`{"schema":1,"board":{"ports":1},"ops":[{"rx_queue":{"queue":0,"log_size":2,"pay_bytes":0}}]}`, "pay_bytes"},
	} {
		text, want := c.text, c.want
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// Values of a wrong type are reported all at once, each with its operation, field and the type that would be right.
func TestProgramsOfWrongTypes(t *testing.T) {
	for _, c := range []struct{ op, want string }{
		{`{"rx_queue":{"queue":"one","log_size":2,"pay_bytes":64}}`,
			` (rx_queue): rx_queue.queue is a string: want a whole number in digits, of 64 bits`},
		{`{"rx_queue":{"queue":0,"log_size":2,"pay_bytes":65536}}`,
			` (rx_queue): rx_queue.pay_bytes is 65536: want a whole number from 0 to 65535`},
		{`{"tx_queue":{"queue":0,"log_size":2,"class":-1}}`,
			` (tx_queue): tx_queue.class is -1: want a whole number from 0 to 255`},
		{`{"post":{"queue":0.5}}`, ` (post): post.queue is 0.5: want a whole number in digits, of 64 bits`},
		{`{"play":{"frames":[{"l3":4},{"raw":7}]}}`,
			` (play): play.frames.raw is a number: want bytes as a string in base 64`},
		{`{"play":{"frames":[{"l3":"4"}]}}`,
			` (play): play.frames.l3 is a string: want a whole number in digits, of 64 bits`},
		{`{"play":{"frames":{}}}`, ` (play): play.frames is an object: want a list`},
		{`{"write":{"reg":5}}`, ` (write): write.reg is a number: want a string`},
		{`{"disable":{"tx":"yes","queue":1}}`, ` (disable): disable.tx is a string: want true or false`},
		{`{"mend":[]}`, ` (mend): mend is a list: want an object`},
		{`{"quiet":{},"wait":1e99}`, ` (quiet): wait is 1e99: want a whole number in digits, of 64 bits`},
		{`{"bell":{"quee":1}}`, ` (bell): unknown field "quee"`},
		{`{"play":{"frames":[{"raw":"!"}]}}`, ` (play): bytes of a frame are no base 64 from character 0 on`},
		{`7`, `: it is a number: want an object`},
	} {
		op, want := c.op, c.want
		_, err := Parse([]byte(`{"schema":1,"board":{"ports":1,"mps":128,"rcb":64},"ops":[{"quiet":{}},` + op + `]}`))
		require.EqualError(t, err, "program: operation 1"+want, op)
		var wrong *Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, 1, wrong.Op)
	}
	_, err := Parse(
		[]byte(`{"schema":1,"board":{"ports":"1"},"ops":[{"post":{"queue":-1}},{"bell":5}, {"key":{"index":70000}}]}`))
	require.EqualError(t, err, "program: board.ports is a string: want a whole number in digits, of 64 bits\n"+
		"program: operation 0 (post): queue is -1: want 0 to 255\n"+
		"program: operation 1 (bell): bell is a number: want an object\n"+
		"program: operation 2 (key): index is 70000: want 0 to 65535")
	_, err = Parse([]byte(`{"schema":1,"board":{"ports":1,"mps":128,"rcb":64},"ops":[{"belll":{}}]}`))
	require.ErrorContains(t, err, `operation 0: unknown field "belll": want one of wait, rx_queue, tx_queue, disable, `)
	_, err = Parse([]byte("{\"schema\":1,\n\"ops\":[{]}"))
	require.EqualError(t, err, "program: line 2: invalid character looking for beginning of object key string")
	_, err = Parse([]byte("\n"))
	require.EqualError(t, err, "program: it is empty: want an object")
}

// An error about a file that is no program does not quote its contents: they may hold secrets.
func TestOtherFilesAreNotShown(t *testing.T) {
	for _, text := range []string{"root:secret\n", "secret", "\"secret\"", "[\"secret\"]",
		`{"type":"secret","secret":1,"ops":[]}`, "{\"secret\":\n", "s"} {
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, "program: ", text)
		require.NotContains(t, err.Error(), "secret", text)
		require.NotContains(t, err.Error(), "'s'", text)
	}
}
