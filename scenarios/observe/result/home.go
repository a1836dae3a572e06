package result

import "fmt"

// Home is a home that was used, in the JSON object.
type Home struct {
	Dir      string `json:"dir"`
	Revision string `json:"revision"` // commit of which it is a work tree, empty when unknown
	Modified bool   `json:"modified"` // its verilator/ is not as in that commit
}

// String is the home for people.
func (h *Home) String() string {
	switch {
	case h.Revision == "":
		return h.Dir + ", revision unknown"
	case h.Modified:
		return fmt.Sprintf("%s, revision %s with changes", h.Dir, h.Revision)
	}
	return fmt.Sprintf("%s, revision %s", h.Dir, h.Revision)
}
