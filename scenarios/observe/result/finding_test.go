package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"

	"nictwin/models/nic/boundary"
	"nictwin/scenarios/traffic/capture"
)

// TestMismatchesAreFindings checks the fields of findings made from mismatches, above all the domain.
func TestMismatchesAreFindings(t *testing.T) {
	frame := &verdict.FrameID{Port: 1, N: 9}
	for _, c := range []struct {
		m    verdict.Mismatch
		want string
	}{
		{verdict.Mismatch{Rule: "R8", At: verdict.Domain{Kind: verdict.DomainRxq, Index: 3}, Index: 17, Frame: frame,
			Cycle: 5},
			`{"rule":"R8","domain":"rx","cycle":5,"port":1,"queue":3,"index":17,` +
				`"frame":{"dir":"rx","port":1,"number":9},"text":"T"}`},
		{verdict.Mismatch{Rule: "D2", At: verdict.Domain{Kind: verdict.DomainTxq}, Index: 0, Field: "byte",
			Expected: "1", Got: "2"},
			`{"rule":"D2","domain":"copies","field":"byte","expected":"1","got":"2","cycle":0,` +
				`"queue":0,"index":0,"text":"T"}`},
		{verdict.Mismatch{Rule: "T5", At: verdict.Domain{Kind: verdict.DomainTxq, Index: 1}, Index: 2,
			Frame: &verdict.FrameID{Sent: true, N: 4}},
			`{"rule":"T5","domain":"tx","cycle":0,"port":0,"queue":1,"index":2,` +
				`"frame":{"dir":"tx","port":0,"number":4},"text":"T"}`},
		{verdict.Mismatch{Rule: "G5", At: verdict.Domain{Kind: verdict.DomainCounters}, Index: verdict.NoIndex,
			GoFile: "a.go", RTLFile: "b.sv"},
			`{"rule":"G5","domain":"counters","cycle":0,"files":["a.go","b.sv"],"text":"T"}`},
		{verdict.Mismatch{NIC: "A", Rule: "B4", Index: verdict.NoIndex},
			`{"nic":"A","rule":"B4","domain":"device","cycle":0,"text":"T"}`},
		{verdict.Mismatch{Rule: "F6", At: verdict.Domain{Kind: verdict.DomainPort, Index: 1}, Index: verdict.NoIndex},
			`{"rule":"F6","domain":"pause","cycle":0,"port":1,"text":"T"}`},
	} {
		f := OfMismatch(&c.m)
		require.Equal(t, c.m.Detail(), f.Text)
		f.Text = "T"
		text, err := json.Marshal(f)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(text))
	}
	for rule, want := range map[string]Domain{"A4": Accounts, "M3": Messages, "P2": Device, "": Device} {
		require.Equal(t, want, domainOf(&verdict.Mismatch{Rule: rule}), rule)
	}
	require.Equal(t, Registers,
		domainOf(&verdict.Mismatch{Rule: "G2", At: verdict.Domain{Kind: verdict.DomainRegisters}}))
}

// TestTextsNameTheCapture checks that the first line of a text says where its frame was captured.
func TestTextsNameTheCapture(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 10, time.FixedZone("east", 3600))
	for _, c := range []struct {
		origin capture.Origin
		pass   int
		want   string
	}{
		{capture.Origin{}, 2, "head\ndetail"},
		{capture.Origin{File: "x.pcap", Packet: 3}, 1, "head (packet 3 of x.pcap)\ndetail"},
		{capture.Origin{File: "x.pcap", Packet: 3, Time: at}, 2,
			"head (packet 3 of x.pcap, captured 2024-05-06T06:08:09.00000001Z, pass 2)\ndetail"},
	} {
		f, frame := Finding{Text: "head\ndetail"}, &Frame{Dir: "rx"}
		frame.From(c.origin, c.pass)
		f.About(frame)
		require.Equal(t, c.want, f.Text)
		require.Equal(t, c.origin.File == "", frame.Pass == 0, "what is in no capture has no pass")
	}
	f := Finding{Text: "one line"}
	f.About(nil)
	require.Equal(t, "one line", f.Text)
}

func TestErrorsAreFindings(t *testing.T) {
	f := OfError(fmt.Errorf("play: %w", boundary.Breach("G6", "refused")))
	require.Equal(t, Finding{Rule: "G6", Domain: Device, Got: "refused", Text: "play: the NIC breaks [G6]: refused"}, f)
	require.Equal(t, Finding{Domain: Run, Text: "x"}, OfError(errors.New("x")))
}
