package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCaptureICRCCounts(t *testing.T) {
	rows := loadManifest(t)
	for _, row := range rows {
		frames := loadCapture(t, row.File)
		var n [4]int
		for _, f := range frames {
			n[VerifyFrameICRC(f).Verdict]++
		}
		got := captureRow{row.File, len(frames), n[OK], n[Bad], n[Truncated], row.Sidecar}
		require.Equal(t, row, got)
	}
}

// TestManifestIsComplete: the manifest lists exactly the capture files that exist.
func TestManifestIsComplete(t *testing.T) {
	var listed, present []string
	for _, row := range loadManifest(t) {
		listed = append(listed, row.File)
	}
	for _, dir := range []string{"softroce", "synthetic"} {
		files, err := filepath.Glob(filepath.Join(capturesDir, dir, "*.pcap"))
		require.NoError(t, err)
		for _, f := range files {
			present = append(present, dir+"/"+filepath.Base(f))
		}
	}
	require.ElementsMatch(t, present, listed)
}

func TestFuzzSidecar(t *testing.T) {
	var cases []struct {
		I    int    `json:"i"`
		Mut  string `json:"mut"`
		ICRC string `json:"icrc"`
	}
	loadSidecar(t, "synthetic/fuzz_roce_v4.json", &cases)
	frames := loadCapture(t, "synthetic/fuzz_roce_v4.pcap")
	require.Len(t, frames, len(cases))
	want := map[string]Verdict{"ok": OK, "bad": Bad, "trunc": Truncated, "not-roce": NotChecked}
	for _, c := range cases {
		w, known := want[c.ICRC]
		require.True(t, known, c.ICRC)
		require.Equal(t, w, VerifyFrameICRC(frames[c.I]).Verdict, "frame %d, mutation %s", c.I, c.Mut)
	}
}

func TestInjectSidecar(t *testing.T) {
	var cases []struct {
		Case string   `json:"case"`
		Sent []string `json:"sent"`
	}
	loadSidecar(t, "softroce/inject_v4.json", &cases)
	want := map[string]Verdict{"bad_icrc": Bad, "runt_bth_only_no_icrc_room": Truncated}
	require.Len(t, cases, 59)
	for _, c := range cases {
		for i, s := range c.Sent {
			frame := unhex(t, s)
			verdict := OK
			if w, ok := want[c.Case]; ok {
				verdict = w
			}
			require.Equal(t, verdict, VerifyFrameICRC(frame).Verdict, "%s frame %d", c.Case, i)
			checksum := NotChecked
			switch c.Case {
			case "udp_checksum_valid":
				checksum = OK
			case "udp_checksum_bad":
				checksum = Bad
			case "runt_bth_only_no_icrc_room":
				checksum = Truncated
			}
			ip, _ := frameIP(frame)
			require.Equal(t, checksum, VerifyUDPChecksum(ip), "%s frame %d", c.Case, i)
			require.Equal(t, OK, VerifyIPv4Header(ip), "%s frame %d", c.Case, i)
		}
	}
}

func loadSidecar(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(capturesDir, file))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), file)
}
