package contract

// plainOnly are the checks that keep the plain board, where reads are answered at once, each with the reason.
var plainOnly = map[string]string{}
