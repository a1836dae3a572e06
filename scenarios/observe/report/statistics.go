package report

import (
	"encoding/base64"
	"errors"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/probe/output"
	"nictwin/scenarios/shell/files"
)

// Limits of the statistics on a page.
const (
	maxCases   = 64      // cases with a table
	maxDrawn   = 4       // cases with pictures
	maxPicture = 4 << 20 // bytes of a picture
)

// Statistics is the statistics of a case on the page.
type Statistics struct {
	Name     string
	Table    string
	Pictures []drawing
	Large    []string // names of pictures that are too large for the page
}

// drawing is a picture, in the page itself.
type drawing struct {
	Name string
	URL  template.URL
}

// statistics lists the statistics of the first maxCases cases of all runs, and counts the other cases that have some.
func statistics(runs []*Run) (list []Statistics, more int, err error) {
	for _, r := range runs {
		for i := range r.Object.Scenarios {
			x := &r.Object.Scenarios[i]
			if x.Stats == nil {
				continue
			}
			if len(list) == maxCases {
				more++
				continue
			}
			s := Statistics{Name: x.Title(), Table: x.Stats.String()}
			if len(list) < maxDrawn {
				if err = s.draw(r, x); err != nil {
					return nil, 0, err
				}
			}
			list = append(list, s)
		}
	}
	return list, more, nil
}

// draw adds the pictures of a case, as images that run no script.
func (s *Statistics) draw(r *Run, x *result.ScenarioPlayed) error {
	folder := x.Folder()
	if !filepath.IsLocal(folder) || strings.ContainsRune(folder, filepath.Separator) {
		return nil // no run gives the folder of a case such a name
	}
	for _, dir := range r.Folders {
		for _, name := range output.Files() {
			if filepath.Ext(name) != ".svg" {
				continue
			}
			path := filepath.Join(dir, folder, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > maxPicture {
				s.Large = append(s.Large, name)
				continue
			}
			text, err := files.Read(path, maxPicture)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			s.Pictures = append(s.Pictures, drawing{strings.TrimSuffix(name, ".svg"),
				template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(text))})
		}
	}
	return nil
}
