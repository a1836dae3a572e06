package result

import "fmt"

// Home is the home that a command used, as JSON reports it.
type Home struct {
	Dir      string `json:"dir"`
	Revision string `json:"revision"` // commit of its work tree; empty if unknown
	Modified bool   `json:"modified"` // folder verilator/ of the home differs from commit Revision
}

// String formats the home for people.
func (h *Home) String() string {
	switch {
	case h.Revision == "":
		return h.Dir + ", revision unknown"
	case h.Modified:
		return fmt.Sprintf("%s, revision %s with changes", h.Dir, h.Revision)
	}
	return fmt.Sprintf("%s, revision %s", h.Dir, h.Revision)
}
