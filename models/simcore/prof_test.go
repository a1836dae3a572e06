package simcore
import "testing"
func BenchmarkOwnHopsOnly(b *testing.B){ m:=1e9; for range b.N { m=min(m,ownHops()) }; b.ReportMetric(m,"ns/msg") }
