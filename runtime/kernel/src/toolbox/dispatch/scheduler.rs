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
    /// A message of the user is waiting.
    Skipped,
    /// The turn has too many calls.
    TooMany,
}

/// The calls of a turn, by index. For each call, exactly one of `run` and `refuse` is called, once; `None` would mean
/// that it was called before.
pub(super) trait Batch {
    type Answer;
    /// The run of a call. Not a boxed future with a lifetime: with it, the compiler could not prove that the future
    /// of a dispatch is `Send`.
    type Run: Future<Output = Self::Answer> + Unpin;

    fn len(&self) -> usize;
    fn footprint(&self, index: usize) -> Footprint;
    fn run(&mut self, index: usize) -> Option<Self::Run>;
    fn refuse(&mut self, index: usize, refusal: Refusal) -> Option<Self::Run>;
    fn is_cancelled(&self) -> bool;
    fn is_interrupted(&self) -> bool;
}

/// Runs the calls of a turn in steps of `size`. Returns the responses in order, and whether the turn was interrupted.
pub(super) async fn drive<T: Batch>(size: NonZeroUsize, mut turn: T) -> (Vec<T::Answer>, bool) {
    let count = turn.len();
    let mut responses: Vec<Option<T::Answer>> = std::iter::repeat_with(|| None).take(count).collect();
    let mut interrupted = false;
    let mut begin = 0;
    while begin < count && !interrupted {
        let end = begin.saturating_add(size.get()).min(count);
        step(&mut turn, begin, &mut responses[begin..end]).await;
        begin = end;
        interrupted = !turn.is_cancelled() && turn.is_interrupted();
    }
    let rest = responses.iter_mut().enumerate().skip(begin);
    for (index, response) in rest {
        if let Some(refused) = turn.refuse(index, Refusal::Skipped) {
            *response = Some(refused.await);
        }
    }
    (responses.into_iter().flatten().collect(), interrupted)
}

/// Runs the calls from `begin` on, one for each slot of `responses`.
async fn step<T: Batch>(turn: &mut T, begin: usize, responses: &mut [Option<T::Answer>]) {
    if let [response] = responses {
        if let Some(answered) = start_run(turn, begin) {
            *response = Some(answered.await);
        }
        return;
    }
    let footprints: Vec<Footprint> =
        (begin..begin + responses.len()).map(|index| turn.footprint(index)).collect();
    let mut order = Order::new(&footprints);
    let mut running = Join::new(responses.len());
    loop {
        while let Some(at) = order.ready.pop_front() {
            if let Some(answered) = start_run(turn, begin + at) {
                running.push(at, answered);
            }
        }
        let Some((at, response)) = running.next().await else { return };
        responses[at] = Some(response);
        order.answered(at);
    }
}

/// Returns the run of a call, or refuses the call if the turn is cancelled.
fn start_run<T: Batch>(turn: &mut T, index: usize) -> Option<T::Run> {
    if turn.is_cancelled() { turn.refuse(index, Refusal::Cancelled) } else { turn.run(index) }
}

/// The waiting relation between the calls of a step.
#[derive(Debug)]
struct Order {
    /// The calls that may start, in order.
    ready: VecDeque<usize>,
    /// For each call, how many others it waits for.
    waits_for: Vec<usize>,
    /// For each call, which others wait for it, in order.
    holds_up: Vec<Vec<usize>>,
}

impl Order {
    fn new(footprints: &[Footprint]) -> Order {
        let count = footprints.len();
        let mut order =
            Order { ready: VecDeque::new(), waits_for: vec![0; count], holds_up: vec![Vec::new(); count] };
        // An exclusive call waits for all calls since the last exclusive one, and blocks all calls until the next
        // one.
        let mut barrier = None;
        let mut begin = 0;
        while begin < count {
            let end = (begin..count).find(|at| footprints[*at].is_exclusive()).unwrap_or(count);
            order.relate(footprints, begin..end);
            let next = (end < count).then_some(end);
            if let Some(barrier) = barrier {
                (begin..end).chain(next).for_each(|later| order.wait(later, barrier));
            }
            if let Some(next) = next {
                (begin..end).for_each(|earlier| order.wait(next, earlier));
            }
            (barrier, begin) = (next, end + 1);
        }
        order.ready = (0..count).filter(|at| order.waits_for[*at] == 0).collect();
        order
    }

    /// Records which of these calls, none of them exclusive, wait for which.
    fn relate(&mut self, footprints: &[Footprint], calls: Range<usize>) {
        let mut of_tool: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
        // Most calls touch nothing; only the others are compared with each other.
        let mut touching: Vec<usize> = Vec::new();
        for later in calls {
            let footprint = &footprints[later];
            for required in footprint.requires() {
                of_tool.get(required).into_iter().flatten().for_each(|earlier| self.wait(later, *earlier));
            }
            of_tool.entry(footprint.tool()).or_default().push(later);
            if !footprint.is_empty() {
                let disturbed = touching.iter().filter(|earlier| footprints[**earlier].conflicts(footprint));
                disturbed.for_each(|earlier| self.wait(later, *earlier));
                touching.push(later);
            }
        }
    }

    fn wait(&mut self, later: usize, earlier: usize) {
        self.waits_for[later] += 1;
        self.holds_up[earlier].push(later);
    }

    fn answered(&mut self, at: usize) {
        for later in std::mem::take(&mut self.holds_up[at]) {
            self.waits_for[later] -= 1;
            if self.waits_for[later] == 0 {
                self.ready.push_back(later);
            }
        }
    }
}
