//! Handles types that contain themselves, and types that nest too deeply for rustc.
//!
//! The depth matters twice: when rustc checks a type, and when it generates code for functions that call one another
//! through types. See `Link` in the runtime.

use super::model::{Body, Item, Ty, Wrap};

/// Maximum nesting depth of types. rustc stops at 128 steps (`recursion_limit`), and one level through an `Option` of
/// a `Vec` or a map takes up to six, in any crate that uses the type.
const MAX_DEPTH: usize = 14;

/// The largest group of mutually recursive types that is only boxed. In larger groups every back edge is cut.
const MAX_GROUP: usize = 6;

/// An occurrence of a type in another.
struct Edge {
    to: usize,
    is_indirect: bool,
    wrap: Wrap,
}

/// Sets the wraps of all occurrences.
pub(super) fn limit_depth(items: &mut [Item]) {
    let mut graph: Vec<Vec<Edge>> = items
        .iter_mut()
        .map(|item| {
            let mut edges = Vec::new();
            for ty in item.body.types_mut() {
                ty.for_each_item(false, &mut |is_indirect, to, _| {
                    edges.push(Edge { to, is_indirect, wrap: Wrap::Plain });
                });
            }
            edges
        })
        .collect();
    let groups = groups(&graph);
    wrap_back_edges(&mut graph, &groups);
    cut_depth(&mut graph, &groups);
    for edge in graph.iter().flatten().filter(|edge| edge.wrap == Wrap::Link) {
        if let Some(item) = items.get_mut(edge.to) {
            item.is_linked = true;
        }
    }
    for (item, edges) in items.iter_mut().zip(graph) {
        let mut edges = edges.into_iter();
        for ty in item.body.types_mut() {
            ty.for_each_item(false, &mut |_, _, wrap| {
                *wrap = edges.next().map_or(Wrap::Plain, |edge| edge.wrap);
            });
        }
    }
}

/// Mutually recursive types: the group number of each type, and the members of each group. A group comes after the
/// groups that its members refer to.
struct Groups {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
}

/// Finds the groups in two traversals (Kosaraju's algorithm). In a traversal of all types, the type that is finished
/// last is contained only in types of its own group, so all types that refer to it, directly or indirectly, form its
/// group. Without that group, the same holds for the remaining type that is finished last.
fn groups(graph: &[Vec<Edge>]) -> Groups {
    const NONE: usize = usize::MAX;
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
    for (node, edges) in graph.iter().enumerate() {
        for edge in edges {
            users[edge.to].push(node);
        }
    }
    let mut group_of = vec![NONE; graph.len()];
    let mut members: Vec<Vec<usize>> = Vec::new();
    for last in finishing_order(graph).into_iter().rev() {
        let (mut pending, mut group) = (vec![last], Vec::new());
        while let Some(node) = pending.pop() {
            if group_of[node] == NONE {
                group_of[node] = members.len();
                group.push(node);
                pending.extend(&users[node]);
            }
        }
        if !group.is_empty() {
            members.push(group);
        }
    }
    // The groups were found from the users to the used types.
    members.reverse();
    for group_of in &mut group_of {
        *group_of = members.len() - 1 - *group_of;
    }
    Groups { of: group_of, members }
}

/// Returns the types in the order in which a traversal finishes them: after all types that they refer to, except for
/// back edges. The stack is on the heap, because documents nest arbitrarily deep.
fn finishing_order(graph: &[Vec<Edge>]) -> Vec<usize> {
    let mut visited = vec![false; graph.len()];
    let mut order = Vec::with_capacity(graph.len());
    for root in 0..graph.len() {
        // A type and the number of its edges that were followed.
        let mut work = vec![(root, 0)];
        while let Some((node, followed)) = work.pop() {
            if followed == 0 && std::mem::replace(&mut visited[node], true) {
                continue;
            }
            match graph[node].get(followed) {
                Some(edge) => work.extend([(node, followed + 1), (edge.to, 0)]),
                None => order.push(node),
            }
        }
    }
    order
}

/// Wraps back edges: every cycle has an edge to a type that is still open in a traversal, and gets a box or a link
/// there.
fn wrap_back_edges(graph: &mut [Vec<Edge>], groups: &Groups) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; graph.len()];
    for root in 0..graph.len() {
        let mut work = vec![(root, 0)];
        if state[root] != State::New {
            continue;
        }
        while let Some((node, edge)) = work.pop() {
            state[node] = State::Open;
            let Some(target) = graph[node].get_mut(edge) else {
                state[node] = State::Done;
                continue;
            };
            work.push((node, edge + 1));
            match state[target.to] {
                State::New => work.push((target.to, 0)),
                State::Open if groups.members[groups.of[target.to]].len() > MAX_GROUP => {
                    target.wrap = Wrap::Link;
                }
                State::Open if !target.is_indirect => target.wrap = Wrap::Box,
                State::Open | State::Done => {}
            }
        }
    }
}

/// Cuts types that nest deeper than [`MAX_DEPTH`]. A small group counts as many levels as it has members.
fn cut_depth(graph: &mut [Vec<Edge>], groups: &Groups) {
    let mut depth = vec![0_usize; graph.len()];
    for members in &groups.members {
        if members.len() > MAX_GROUP {
            cut_large(graph, groups, members, &mut depth);
            continue;
        }
        let mut deepest = 0;
        for &node in members {
            for edge in &mut graph[node] {
                if groups.of[edge.to] == groups.of[node] || edge.wrap == Wrap::Link {
                    continue;
                }
                if depth[edge.to] + members.len() > MAX_DEPTH {
                    edge.wrap = Wrap::Link;
                } else {
                    deepest = deepest.max(depth[edge.to]);
                }
            }
        }
        for &node in members {
            depth[node] = deepest + members.len();
        }
    }
}

/// Cuts a large group, which no longer has back edges: its members are visited after the types they refer to.
fn cut_large(graph: &mut [Vec<Edge>], groups: &Groups, members: &[usize], depth: &mut [usize]) {
    for &root in members {
        let mut work = vec![(root, 0)];
        while let Some((node, edge)) = work.pop() {
            if depth[node] != 0 {
                continue;
            }
            if let Some(target) = graph[node].get(edge) {
                work.push((node, edge + 1));
                let is_inside = groups.of[target.to] == groups.of[node];
                if is_inside && target.wrap != Wrap::Link && depth[target.to] == 0 {
                    work.push((target.to, 0));
                }
                continue;
            }
            let mut deepest = 0;
            for edge in &mut graph[node] {
                if edge.wrap == Wrap::Link {
                    continue;
                }
                if depth[edge.to] + 1 > MAX_DEPTH {
                    edge.wrap = Wrap::Link;
                } else {
                    deepest = deepest.max(depth[edge.to]);
                }
            }
            depth[node] = deepest + 1;
        }
    }
}

/// Whether a type is an alias of itself, directly or indirectly. Rust forbids such aliases, and they add nothing.
pub(super) fn is_cyclic_alias(items: &[Item], from: usize) -> bool {
    let mut visited = vec![false; items.len()];
    let mut pending = vec![from];
    while let Some(index) = pending.pop() {
        let Some(Body::Alias(ty)) = items.get(index).map(|item| &item.body) else { continue };
        let mut ty: Ty = ty.clone();
        let mut is_cyclic = false;
        ty.for_each_item(false, &mut |_, to, _| {
            is_cyclic |= to == from;
            if let Some(visited) = visited.get_mut(to)
                && !std::mem::replace(visited, true)
            {
                pending.push(to);
            }
        });
        if is_cyclic {
            return true;
        }
    }
    false
}
