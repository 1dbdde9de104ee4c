//! Groups with several candidate paths, and with unknown paths and rates.

use proptest::prelude::*;

use crate::*;

fn links(path: &[u32]) -> Vec<LinkIndex> {
    path.iter().copied().map(LinkIndex).collect()
}

fn route(candidates: &[Vec<u32>]) -> Route {
    let candidates: Vec<_> = candidates.iter().map(|path| links(path)).collect();
    Route::of(&candidates).unwrap()
}

fn decide(routes: &[Option<Route>], rates: &[Option<u64>]) -> Result<Vec<u32>, Unknown> {
    let mut assistance = Assistance::default();
    let routes = routes.iter().map(Option::as_ref);
    let groups = assistance.decide(routes, |link| rates[link.index()]);
    groups.map(<[u32]>::to_vec)
}

/// What is not known is not decided, also if it is on a disjoint path.
#[test]
fn unknown_paths_and_rates_are_reported() {
    let known = [Some(10); 3];
    let routes = [
        Some(route(&[vec![0]])),
        Some(route(&[vec![1], vec![2]])),
        None,
    ];
    assert_eq!(decide(&routes[..2], &known), Ok(vec![0, 1]));
    assert_eq!(decide(&routes, &known), Err(Unknown::Path));
    assert_eq!(
        decide(&routes[..2], &[Some(10), Some(10), None]),
        Err(Unknown::Rate)
    );
    assert_eq!(Route::of(&[] as &[Vec<LinkIndex>]), None);
}

/// Links 0 and 1 are equal-cost candidates of the first subflow, link 1 is the path of the second.
#[test]
fn a_candidate_counts_like_a_path() {
    let routes = [
        Some(route(&[vec![0, 2], vec![1, 2]])),
        Some(route(&[vec![1]])),
    ];
    assert_eq!(decide(&routes, &[Some(10); 3]), Ok(vec![0, 0]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// Two subflows that share a bottleneck with any choice of the candidates are in one group.
    #[test]
    fn candidates_are_never_separated_where_a_choice_couples(
        routes in prop::collection::vec(prop::collection::vec(prop::collection::btree_set(0..8u32, 1..4), 1..4), 1..5),
        rates in prop::collection::vec(1..8u64, 8),
    ) {
        let routes: Vec<Vec<Vec<LinkIndex>>> = (routes.iter())
            .map(|paths| paths.iter().map(|path| path.iter().copied().map(LinkIndex).collect()).collect())
            .collect();
        let rates: Vec<Option<u64>> = rates.into_iter().map(Some).collect();
        let all: Vec<Option<Route>> = routes.iter().map(|paths| Route::of(paths)).collect();
        let groups = decide(&all, &rates).unwrap();
        let choices: usize = routes.iter().map(Vec::len).product();
        for choice in 0..choices {
            let mut rest = choice;
            let chosen: Vec<Option<Route>> = routes.iter().map(|paths| {
                let path = &paths[rest % paths.len()];
                rest /= paths.len();
                Route::of(std::slice::from_ref(path))
            }).collect();
            let of_choice = decide(&chosen, &rates).unwrap();
            for one in 0..groups.len() {
                for other in 0..one {
                    prop_assert!(of_choice[one] != of_choice[other] || groups[one] == groups[other]);
                }
            }
        }
    }
}
