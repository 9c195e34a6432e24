//! Decides when the calls of a turn start, independently of what a call is and how it runs.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::ops::Range;

use super::footprint::Footprint;
use crate::base::frozen::Text;
use crate::base::future_set::Join;

/// The reason why a call gets a response without running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The turn was cancelled.
    Cancelled,
    /// A message from the user is waiting.
    Skipped,
    /// The turn has too many calls.
    TooMany,
}

/// The calls of a turn, by index. For each call, the scheduler calls either `run` or `refuse`, once. They return `None`
/// if one of them was called before.
pub(super) trait Batch {
    type Answer;
    /// The future that runs a call. With a boxed future that has a lifetime, the compiler could not prove that the
    /// future of a dispatch is `Send`.
    type Run: Future<Output = Self::Answer> + Unpin;

    fn len(&self) -> usize;
    fn footprint(&self, index: usize) -> Footprint;
    fn run(&mut self, index: usize) -> Option<Self::Run>;
    fn refuse(&mut self, index: usize, refusal: Refusal) -> Option<Self::Run>;
    fn is_cancelled(&self) -> bool;
    fn is_interrupted(&self) -> bool;
}

/// Runs the calls of a turn in steps of at most `size` calls. Returns the responses in order, and whether the turn
/// was interrupted.
pub(super) async fn drive<T: Batch>(size: NonZeroUsize, mut turn: T) -> (Vec<T::Answer>, bool) {
    let count = turn.len();
    let mut responses: Vec<Option<T::Answer>> = std::iter::repeat_with(|| None).take(count).collect();
    let mut interrupted = false;
    let mut begin = 0;
    while begin < count && !interrupted {
        let end = begin.saturating_add(size.get()).min(count);
        run_step(&mut turn, begin, &mut responses[begin..end]).await;
        begin = end;
        interrupted = !turn.is_cancelled() && turn.is_interrupted();
    }
    let unstarted = responses.iter_mut().enumerate().skip(begin);
    for (index, response) in unstarted {
        if let Some(refusal) = turn.refuse(index, Refusal::Skipped) {
            *response = Some(refusal.await);
        }
    }
    (responses.into_iter().flatten().collect(), interrupted)
}

/// Runs the step of calls that starts at `begin`, one call for each slot of `responses`.
async fn run_step<T: Batch>(turn: &mut T, begin: usize, responses: &mut [Option<T::Answer>]) {
    if let [response] = responses {
        if let Some(run) = start_run(turn, begin) {
            *response = Some(run.await);
        }
        return;
    }
    let footprints: Vec<Footprint> =
        (begin..begin + responses.len()).map(|index| turn.footprint(index)).collect();
    let mut order = Order::new(&footprints);
    let mut running = Join::new(responses.len());
    loop {
        while let Some(index) = order.ready.pop_front() {
            if let Some(run) = start_run(turn, begin + index) {
                running.push(index, run);
            }
        }
        let Some((index, response)) = running.next().await else { return };
        responses[index] = Some(response);
        order.finish(index);
    }
}

/// Returns the future that runs a call, or that refuses it if the turn is cancelled.
fn start_run<T: Batch>(turn: &mut T, index: usize) -> Option<T::Run> {
    if turn.is_cancelled() { turn.refuse(index, Refusal::Cancelled) } else { turn.run(index) }
}

/// The dependencies between the calls of a step.
#[derive(Debug)]
struct Order {
    /// The calls that may start, in order.
    ready: VecDeque<usize>,
    /// For each call, the number of calls that it waits for.
    pending_count: Vec<usize>,
    /// For each call, the calls that wait for it, in order.
    waiters: Vec<Vec<usize>>,
}

impl Order {
    fn new(footprints: &[Footprint]) -> Order {
        let count = footprints.len();
        let mut order =
            Order { ready: VecDeque::new(), pending_count: vec![0; count], waiters: vec![Vec::new(); count] };
        // An exclusive call waits for all calls since the previous exclusive call, and all calls up to the next
        // exclusive call wait for it.
        let mut barrier = None;
        let mut begin = 0;
        while begin < count {
            let end = (begin..count).find(|index| footprints[*index].is_exclusive()).unwrap_or(count);
            order.add_conflicts(footprints, begin..end);
            let next = (end < count).then_some(end);
            if let Some(barrier) = barrier {
                (begin..end).chain(next).for_each(|later| order.add_dependency(later, barrier));
            }
            if let Some(next) = next {
                (begin..end).for_each(|earlier| order.add_dependency(next, earlier));
            }
            (barrier, begin) = (next, end + 1);
        }
        order.ready = (0..count).filter(|index| order.pending_count[*index] == 0).collect();
        order
    }

    /// Records which of these calls, none of which is exclusive, wait for each other.
    fn add_conflicts(&mut self, footprints: &[Footprint], calls: Range<usize>) {
        let mut by_tool: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
        // Only calls with resources are compared with each other; most calls have none.
        let mut with_resources: Vec<usize> = Vec::new();
        for later in calls {
            let footprint = &footprints[later];
            for required in footprint.requires() {
                by_tool
                    .get(required)
                    .into_iter()
                    .flatten()
                    .for_each(|earlier| self.add_dependency(later, *earlier));
            }
            by_tool.entry(footprint.tool()).or_default().push(later);
            if !footprint.is_empty() {
                let conflicting =
                    with_resources.iter().filter(|earlier| footprints[**earlier].conflicts(footprint));
                conflicting.for_each(|earlier| self.add_dependency(later, *earlier));
                with_resources.push(later);
            }
        }
    }

    fn add_dependency(&mut self, later: usize, earlier: usize) {
        self.pending_count[later] += 1;
        self.waiters[earlier].push(later);
    }

    /// Records that a call has finished, and adds the calls that no longer wait.
    fn finish(&mut self, index: usize) {
        for later in std::mem::take(&mut self.waiters[index]) {
            self.pending_count[later] -= 1;
            if self.pending_count[later] == 0 {
                self.ready.push_back(later);
            }
        }
    }
}
