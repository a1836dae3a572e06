// Package schema reads and checks the NIC's machine-readable contract (nic.yaml).
//
// It knows the shape of the file and what makes it consistent: names, ranges, overlaps. It does not know what
// the NIC does with a field, and it writes nothing: the emit package turns a checked contract into Go,
// SystemVerilog and tables.
//
// Invariant: a Contract returned without an error has unique names and indices, no field or register overlaps
// another, every field fits where it stands and every enum named exists. Errors carry file and line, and all of
// them are reported at once.
package schema
