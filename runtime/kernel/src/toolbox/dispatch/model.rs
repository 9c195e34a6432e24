//! Checks every order in which calls can end, with loom: calls end on other threads while the turn waits.
//!
//! State of the test itself, such as its log, uses the locks of `std`, at which loom does not switch threads.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use loom::future::block_on;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::footprint::Footprint;
use super::scheduler::{Batch, Refusal, drive};
use crate::base::future::BoxFuture;
use crate::base::future_set::Join;

/// A future that another thread completes.
#[derive(Default)]
struct RemoteFuture(Mutex<(bool, Option<Waker>)>);

impl RemoteFuture {
    fn end(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Wakes the task spuriously.
    fn wake_spuriously(&self) {
        let waker = self.0.lock().unwrap().1.clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn wait(self: Arc<Self>) {
        poll_fn(|cx| {
            // Loom switches threads when a waker is cloned or dropped, which must not happen under the lock.
            let mut waker = Some(cx.waker().clone());
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            std::mem::swap(&mut state.1, &mut waker);
            drop(state);
            drop(waker);
            Poll::Pending
        })
        .await;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin(usize),
    End(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Ran(usize),
    Refused(usize, Refusal),
}

struct Model {
    footprints: Vec<Footprint>,
    log: Arc<Mutex<Vec<Step>>>,
    cancelled: Arc<AtomicBool>,
    interrupted: Arc<AtomicBool>,
}

impl Model {
    fn new(footprints: Vec<Footprint>) -> Model {
        let flag = || Arc::new(AtomicBool::new(false));
        Model { footprints, log: Arc::default(), cancelled: flag(), interrupted: flag() }
    }
}

impl Batch for Model {
    type Answer = Answer;
    type Run = BoxFuture<'static, Answer>;

    fn len(&self) -> usize {
        self.footprints.len()
    }

    fn footprint(&self, index: usize) -> Footprint {
        self.footprints[index].clone()
    }

    fn run(&mut self, index: usize) -> Option<BoxFuture<'static, Answer>> {
        self.log.lock().unwrap().push(Step::Begin(index));
        let (call, log) = (Arc::new(RemoteFuture::default()), Arc::clone(&self.log));
        let remote = Arc::clone(&call);
        thread::spawn(move || {
            log.lock().unwrap().push(Step::End(index));
            remote.end();
        });
        Some(Box::pin(async move {
            call.wait().await;
            Answer::Ran(index)
        }))
    }

    fn refuse(&mut self, index: usize, refusal: Refusal) -> Option<BoxFuture<'static, Answer>> {
        Some(Box::pin(std::future::ready(Answer::Refused(index, refusal))))
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Checks all schedules with at most two preemptions: all known bugs in such code need no more, and without a bound,
/// three threads would take hours.
fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(check);
}

fn independent(count: usize) -> Vec<Footprint> {
    vec![Footprint::NONE; count]
}

fn non_zero(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size).unwrap()
}

#[test]
fn every_woken_future_is_polled() {
    model(|| {
        let ends: VecDeque<Arc<RemoteFuture>> = (0..2).map(|_| Arc::default()).collect();
        let mut join = Join::new(2);
        for (index, end) in ends.iter().enumerate() {
            join.push(index, Box::pin(Arc::clone(end).wait()));
        }
        for end in ends {
            thread::spawn(move || {
                end.wake_spuriously();
                end.end();
            });
        }
        let mut indices = block_on(async {
            let (first, second) = (join.next().await.unwrap().0, join.next().await.unwrap().0);
            assert!(join.next().await.is_none());
            [first, second]
        });
        indices.sort_unstable();
        assert_eq!(indices, [0, 1]);
    });
}

#[test]
fn parallel_calls_return_in_order() {
    model(|| {
        let (answers, interrupted) = block_on(drive(NonZeroUsize::MAX, Model::new(independent(2))));
        assert_eq!(answers, [Answer::Ran(0), Answer::Ran(1)]);
        assert!(!interrupted);
    });
}

#[test]
fn conflicting_calls_never_overlap_and_others_do_not_wait() {
    model(|| {
        let writes = || Footprint::new(false, &[], &["file:a"]);
        let model = Model::new(vec![writes(), writes(), Footprint::NONE]);
        let log = Arc::clone(&model.log);
        let (answers, _) = block_on(drive(NonZeroUsize::MAX, model));
        assert_eq!(answers, [Answer::Ran(0), Answer::Ran(1), Answer::Ran(2)]);
        let log = log.lock().unwrap();
        let position = |step: Step| log.iter().position(|entry| *entry == step).unwrap();
        assert!(position(Step::End(0)) < position(Step::Begin(1)));
        assert!(position(Step::Begin(2)) < position(Step::Begin(1)));
    });
}

#[test]
fn next_batch_starts_after_the_previous_one_ends() {
    model(|| {
        let model = Model::new(independent(3));
        let log = Arc::clone(&model.log);
        let (answers, _) = block_on(drive(non_zero(2), model));
        assert_eq!(answers, [Answer::Ran(0), Answer::Ran(1), Answer::Ran(2)]);
        let log = log.lock().unwrap();
        assert_eq!(log.iter().position(|step| *step == Step::Begin(2)), Some(4));
    });
}

#[test]
fn message_at_any_time_skips_calls_not_started() {
    model(|| {
        let model = Model::new(independent(2));
        let (log, interrupted) = (Arc::clone(&model.log), Arc::clone(&model.interrupted));
        let user = thread::spawn(move || interrupted.store(true, Ordering::SeqCst));
        let (answers, interrupted) = block_on(drive(non_zero(1), model));
        user.join().unwrap();
        let started = log.lock().unwrap().iter().filter(|step| matches!(step, Step::Begin(_))).count();
        assert!(answers[0] == Answer::Ran(0) && answers.len() == 2);
        match answers[1] {
            Answer::Ran(1) => assert_eq!(started, 2),
            other => {
                assert_eq!((other, started), (Answer::Refused(1, Refusal::Skipped), 1));
                assert!(interrupted);
            }
        }
    });
}

#[test]
fn cancel_at_any_time_cancels_calls_not_started() {
    model(|| {
        let writes = || Footprint::new(false, &[], &["file:a"]);
        let model = Model::new(vec![writes(), writes()]);
        let (log, cancelled) = (Arc::clone(&model.log), Arc::clone(&model.cancelled));
        let caller = thread::spawn(move || cancelled.store(true, Ordering::SeqCst));
        let (answers, _) = block_on(drive(NonZeroUsize::MAX, model));
        caller.join().unwrap();
        assert_eq!(answers.len(), 2);
        let log = log.lock().unwrap();
        for (index, answer) in answers.into_iter().enumerate() {
            let started = log.contains(&Step::Begin(index));
            let expected =
                if started { Answer::Ran(index) } else { Answer::Refused(index, Refusal::Cancelled) };
            assert_eq!(answer, expected);
        }
    });
}
