package shrink

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/golden/trace"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic"
)

// encode returns a capture for each port, up to the last one that has packets: port i plays file i.
func encode(packets []traffic.PortFrame, ports int) (files []result.InputFile, _ error) {
	last := 0
	for i := range packets {
		last = max(last, packets[i].Port)
	}
	for port := range min(last+1, ports) {
		data, err := captureOf(packets, port)
		if err != nil {
			return nil, err
		}
		files = append(files, result.InputFile{Name: result.ShrunkCaptures[port], Role: result.RoleCapture, Data: data})
	}
	return files, nil
}

// captureOf returns the packets of a port as pcapng. A comment says where each was captured.
func captureOf(packets []traffic.PortFrame, port int) ([]byte, error) {
	var b bytes.Buffer
	w := trace.NewInterfaces(&b, 0, fmt.Sprintf("port %d", port))
	for i := range packets {
		p := &packets[i]
		if p.Port != port {
			continue
		}
		f := trace.Frame{ID: trace.NoID}
		if from := p.Origin; from.File != "" {
			f.Comments = []string{fmt.Sprintf("packet %d of %s", from.Packet, filepath.Base(from.File))}
			if !from.Time.IsZero() {
				f.Ns = max(0, from.Time.UnixNano())
			}
		}
		w.Packet(0, &f, p.Data)
	}
	err := w.Close()
	return b.Bytes(), err
}

// write writes the captures into a folder and returns their paths.
func write(dir string, packets []traffic.PortFrame, ports int) (paths []string, _ error) {
	files, err := encode(packets, ports)
	errs := []error{err}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		paths = append(paths, path)
		errs = append(errs, os.WriteFile(path, f.Data, 0o600))
	}
	return paths, errors.Join(errs...)
}
