use super::*;

#[test]
fn draws_are_spread_over_the_range_and_the_same_each_time() {
    let draws: Vec<f64> = (0..1000).map(|seed| rtt_factor(seed, 0.1)).collect();
    assert!(draws.iter().all(|factor| (0.9..1.1).contains(factor)));
    let mean = draws.iter().sum::<f64>() / 1000.0;
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    assert_eq!(rtt_factor(7, 0.1).to_bits(), rtt_factor(7, 0.1).to_bits());
    assert_ne!(rtt_factor(7, 0.1), rtt_factor(8, 0.1));
    assert_eq!(rtt_factor(7, 0.0), 1.0);
    assert_eq!(scaled(Span::from_millis(40), 0.9), Span::from_millis(36));
}
