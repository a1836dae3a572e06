//go:build akitaview

package akitaview

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/traffic/craft"
)

// newRun returns a replay of some frames in both directions on the Go NIC of a whole card.
func newRun(t *testing.T) *replay.Run {
	t.Helper()
	o := replay.DefaultOptions()
	card, err := board.CardPreset("bf3")
	require.NoError(t, err)
	o.NIC, o.Dir, o.Card, o.PeriodPs, o.Ports, o.EthBits = device.Model, "both", &card, card.Period, card.Ports,
		card.EthBits
	for n := range 40 {
		o.Frames = append(o.Frames, craft.Pattern(64+n*30, uint64(n)))
	}
	r, err := replay.New(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func play(t *testing.T, r *replay.Run) *replay.Result {
	t.Helper()
	res, err := r.Play()
	require.NoError(t, err)
	require.True(t, res.Pass)
	return res
}

// TestTrace checks that a trace has every TLP and frame of the run, with closed tasks at the run's times, and that
// tracing does not change the run.
func TestTrace(t *testing.T) {
	plain := play(t, newRun(t))
	file := filepath.Join(t.TempDir(), "run.sqlite3")
	r := newRun(t)
	v, err := Open(context.Background(), Options{Trace: file}, r.Engine())
	require.NoError(t, err)
	res := play(t, r)
	require.NoError(t, v.Close())
	require.Equal(t, plain.Digest, res.Digest)

	db, err := sql.Open("sqlite3", file)
	require.NoError(t, err)
	defer db.Close()
	count := func(q string, args ...any) (n int) {
		require.NoError(t, db.QueryRow("select count(*) from trace where "+q, args...).Scan(&n))
		return n
	}
	for _, nic := range []string{"Card.NIC.Eth[0]", "Card.NIC.Eth[1]"} {
		require.Equal(t, 20, count("what='frame' and kind='wait' and location=?", nic), "frames received")
		require.Equal(t, 20, count("what='frame' and kind='way' and location=?", nic), "frames sent")
	}
	require.Positive(t, count("what='CplD' and location='Card.Switch.Host'"))
	require.Zero(t, count("end_time < start_time or start_time < 0 or end_time > ?", r.Engine().Now().Sec()))
	require.Zero(t, count("kind='wait' and parent_id not in (select task_id from trace where kind='way')"))

	_, err = Open(context.Background(), Options{Trace: file}, simcore.NewEngine())
	require.ErrorContains(t, err, "already exists")
	_, err = Open(context.Background(), Options{Trace: filepath.Join(file, "x.sqlite3")}, simcore.NewEngine())
	require.ErrorContains(t, err, "--akita-trace")
}

// TestMonitor checks that the monitor lists the run's components, pauses it and continues it.
func TestMonitor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	r := newRun(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v, err := Open(ctx, Options{Monitor: port}, r.Engine())
	require.NoError(t, err)
	client := &http.Client{Timeout: 20 * time.Second}
	get := func(path string) (int, string) {
		t.Helper()
		res, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(b)
	}
	code, _ := get("/api/pause")
	require.Equal(t, http.StatusOK, code)
	ended := make(chan *replay.Result, 1)
	go func() {
		res, err := r.Play()
		if err != nil {
			res = nil
		}
		ended <- res
	}()
	_, now := get("/api/now")
	_, again := get("/api/now")
	require.Equal(t, now, again, "the run is held")
	code, _ = get("/api/continue")
	require.Equal(t, http.StatusOK, code)
	res := <-ended
	require.NotNil(t, res)
	require.True(t, res.Pass)

	_, list := get("/api/list_components")
	for _, name := range []string{"Card.NIC", "Card.Switch", "Card.ArmRoot", "Player0"} {
		require.Contains(t, list, `"`+name+`"`)
	}
	code, page := get("/api/component/Card.NIC")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, "nictwin/models/nic.Comp")
	code, page = get("/")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, "<body>")
	for path, want := range map[string]int{"/api/run": http.StatusNotImplemented,
		"/api/tick/Card.NIC": http.StatusNotImplemented, "/api/component/None": http.StatusNotFound} {
		code, _ = get(path)
		require.Equal(t, want, code, path)
	}

	_, err = Open(context.Background(), Options{Monitor: port}, simcore.NewEngine())
	require.ErrorContains(t, err, "one run at a time")
	cancel()
	require.NoError(t, v.Close())
	code, _ = get("/api/now")
	require.Equal(t, http.StatusGone, code)
}

// TestStrangersAreRefused checks that requests from other machines, with other host names, or of pages from other sites
// are refused before Akita sees them.
func TestStrangersAreRefused(t *testing.T) {
	g := &guard{engine: simcore.NewEngine(),
		to: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("got through") })}
	for _, x := range []struct{ from, host, origin string }{
		{"10.0.0.7:999", "localhost:8080", ""},
		{"127.0.0.1:999", "evil.example:8080", ""},
		{"127.0.0.1:999", "localhost:8080", "http://evil.example"},
		{"nowhere", "localhost", ""},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/now", nil)
		r.RemoteAddr, r.Host = x.from, x.host
		if x.origin != "" {
			r.Header.Set("Origin", x.origin)
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		require.Equal(t, http.StatusForbidden, w.Code, "%+v", x)
	}
}
