package inorder_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
	"nictwin/scenarios/shell/inorder"
)

// Whatever the number of concurrent jobs, and the order in which they begin and end, the results are those of running
// the jobs one after the other, up to the first result that ends the list.
func TestResultsAreThoseOfOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 12).Draw(t, "jobs")
		costs := rapid.SliceOfN(rapid.Int64Range(0, 5), count, count).Draw(t, "costs")
		ends := rapid.SliceOfN(rapid.SampledFrom([]bool{false, false, false, true}), count, count).Draw(t, "ends")
		most := rapid.IntRange(0, 5).Draw(t, "most")
		var want, got []int
		for job := range count {
			want = append(want, job)
			if ends[job] {
				break
			}
		}
		var now, top atomic.Int32
		l := inorder.List[int]{
			Count: count, Most: most,
			Cost: func(job int) int64 { return costs[job] },
			Do: func(_ context.Context, job int) int {
				n := now.Add(1)
				defer now.Add(-1)
				for before := top.Load(); n > before && !top.CompareAndSwap(before, n); before = top.Load() {
				}
				for range costs[job] {
					runtime.Gosched()
				}
				return job
			},
			Ends: func(job int) bool { return ends[job] },
			Take: func(job, result int) {
				require.Equal(t, job, result)
				got = append(got, job)
			},
		}
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, want, got)
		require.Zero(t, now.Load(), "jobs that go on after the end")
		require.LessOrEqual(t, int(top.Load()), max(most, 1))
	})
}

// Several concurrent jobs begin with the longest; one at a time, they begin in order.
func TestLongJobsBeginFirst(t *testing.T) {
	play := func(most int) (began []int) {
		var mu sync.Mutex
		l := inorder.List[int]{
			Count: 5, Most: most, Cost: func(job int) int64 { return []int64{1, 9, 1, 9, 4}[job] },
			Do: func(_ context.Context, job int) int {
				mu.Lock()
				defer mu.Unlock()
				began = append(began, job)
				return job
			},
			Take: func(int, int) {},
		}
		require.NoError(t, l.Run(t.Context()))
		return began
	}
	require.Equal(t, []int{0, 1, 2, 3, 4}, play(1))
	last := play(2)[3:] // the order in which two concurrent jobs begin is not fixed
	require.NotContains(t, last, 1)
	require.NotContains(t, last, 3)
}

// A result that ends the list cancels the running jobs after it, but not those before it.
func TestEndCancelsWhatIsBehind(t *testing.T) {
	var all, ended sync.WaitGroup
	all.Add(3)
	ended.Add(1)
	canceled := [3]bool{}
	var got []int
	l := inorder.List[int]{
		Count: 3, Most: 3,
		Do: func(ctx context.Context, job int) int {
			all.Done()
			all.Wait()
			switch job {
			case 0: // this job ends last
				ended.Wait()
			case 2:
				<-ctx.Done()
				ended.Done()
			}
			canceled[job] = ctx.Err() != nil
			return job
		},
		Ends: func(job int) bool { return job == 1 },
		Take: func(job, _ int) { got = append(got, job) },
	}
	require.NoError(t, l.Run(t.Context()))
	require.Equal(t, []int{0, 1}, got)
	require.Equal(t, [3]bool{false, false, true}, canceled)
}

// A canceled context cancels the running jobs, and no other job begins.
func TestCanceledContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var began atomic.Int32
	var got []int
	l := inorder.List[int]{
		Count: 100, Most: 2,
		Do: func(ctx context.Context, job int) int {
			began.Add(1)
			if job == 1 {
				cancel(cause)
			}
			<-ctx.Done()
			return job
		},
		Take: func(job, _ int) { got = append(got, job) },
	}
	require.ErrorIs(t, l.Run(ctx), cause)
	require.Equal(t, []int{0, 1}, got)
	require.EqualValues(t, 2, began.Load())
}

// A job's panic is raised after the results of the jobs before it, with the stack of the job.
func TestPanicComesInItsTurn(t *testing.T) {
	var got []int
	l := inorder.List[int]{
		Count: 4, Most: 4,
		Do: func(_ context.Context, job int) int {
			switch {
			case job == 0:
				time.Sleep(10 * time.Millisecond)
			case job >= 2:
				explode(job)
			}
			return job
		},
		Take: func(job, _ int) { got = append(got, job) },
	}
	defer func() {
		p, ok := recover().(*inorder.Panic)
		require.True(t, ok)
		require.Equal(t, "job 2", p.Value)
		require.Equal(t, "job 2", fmt.Sprint(p))
		require.Contains(t, string(p.Stack), "explode")
		require.Equal(t, []int{0, 1}, got)
	}()
	_ = l.Run(t.Context())
	t.Error("no panic")
}

func explode(job int) { panic(fmt.Sprintf("job %d", job)) }
