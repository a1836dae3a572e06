// Package boardtest draws boards whose parts are slow, for tests: a board may be
// as slow as it likes, and nothing of that is a fault of the NIC on it.
//
// Nothing outside tests imports it.
package boardtest
