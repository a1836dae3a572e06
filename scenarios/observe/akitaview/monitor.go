//go:build akitaview

package akitaview

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/sarchlab/akita/v3/monitoring"
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// monitor is Akita's server behind a guard.
type monitor struct {
	akita *monitoring.Monitor
	guard *guard
}

// begun is locked by the program's only monitor, since Akita has one HTTP server per process.
var begun sync.Mutex

// newMonitor starts the server of a run.
func newMonitor(ctx context.Context, port int, e *simcore.Engine) (m *monitor, err error) {
	if !begun.TryLock() {
		return nil, fmt.Errorf("--akita-monitor %d: this program has had one already: want one run at a time", port)
	}
	m = &monitor{akita: monitoring.NewMonitor().WithPortNumber(port)}
	m.akita.RegisterEngine(e)
	// Akita registers its handlers in the default mux, and serves requests with the mux that is the default when they
	// arrive. So it gets a mux of its own to register in, and the guard becomes the default.
	handlers := http.NewServeMux()
	m.guard = &guard{engine: e, to: handlers}
	http.DefaultServeMux = handlers
	defer func() {
		http.DefaultServeMux = http.NewServeMux()
		http.DefaultServeMux.Handle("/", m.guard)
		if r := recover(); r != nil {
			err = fmt.Errorf("--akita-monitor %d: %v", port, r)
		}
	}()
	m.akita.StartServer()
	context.AfterFunc(ctx, m.guard.end)
	return m, nil
}

func (m *monitor) add(c sim.Component) { m.akita.RegisterComponent(c) }

func (m *monitor) end() { m.guard.end() }

// guard wraps Akita's handlers: it refuses requests from other machines, and pauses the run while a handler inspects
// it.
type guard struct {
	engine *simcore.Engine
	to     http.Handler

	mu     sync.Mutex // held while a request is served, one at a time
	paused bool       // a request has paused the run
	ended  bool
}

// running lists the handlers during which the run must not be paused: the first samples it for a second.
var running = map[string]bool{"/api/profile": true, "/api/resource": true, "/api/progress": true}

// unfit reports whether a handler makes no sense for this kind of simulation: it would start a second run, or tick
// components that do not tick.
func unfit(path string) bool {
	return path == "/api/run" || strings.HasPrefix(path, "/api/tick/") || strings.HasPrefix(path, "/api/traffic/")
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !ours(r):
		http.Error(w, "nictwin: this monitor is for its own machine only", http.StatusForbidden)
		return
	case unfit(r.URL.Path):
		http.Error(w, "nictwin: a run is begun by the command line; want pause or continue", http.StatusNotImplemented)
		return
	case running[r.URL.Path]:
		g.to.ServeHTTP(w, r)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		http.Error(w, "nictwin: the run has ended", http.StatusGone)
		return
	}
	switch r.URL.Path {
	case "/api/pause":
		if !g.paused {
			g.engine.Pause()
		}
		g.paused = true
	case "/api/continue":
		if g.paused {
			g.engine.Continue()
		}
		g.paused = false
	default:
		if !g.paused {
			g.engine.Pause()
			defer g.engine.Continue()
		}
		g.to.ServeHTTP(w, r)
	}
}

// end lets a paused run continue; later requests are refused.
func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paused {
		g.engine.Continue()
	}
	g.ended, g.paused = true, false
}

// ours reports whether a request comes from this machine and not from a page of another site.
func ours(r *http.Request) bool {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(from).IsLoopback() || !local(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && local(u.Host)
}

// local reports whether a host, with or without port, is a name of this machine.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}
