// Package output names the files that a series of a run leaves among its artifacts.
//
// It imports nothing, so that whoever handles files need not import what measures a board.
package output

// Series is the name of the file with a series.
const Series = "series.csv"

// Pictures returns the names of the pictures of a series, in order.
func Pictures() []string {
	return []string{"throughput", "links", "memory", "channels", "private", "lookups", "occupancy", "credits", "queues",
		"packets", "cores", "activities"}
}

// Picture returns the name of the file of a picture.
func Picture(name string) string { return name + ".svg" }

// Files lists the files that a series may leave.
func Files() []string {
	list := []string{Series}
	for _, name := range Pictures() {
		list = append(list, Picture(name))
	}
	return list
}
