use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;

fn draws(size: &Size, count: u32) -> Vec<u64> {
    let mut generator = Pcg64Mcg::seed_from_u64(1);
    (0..count).map(|_| size.draw(&mut generator)).collect()
}

#[test]
fn means_of_the_named_distributions() {
    let mean = |name| Size::Table(SizeTable::named(name).unwrap()).mean();
    // By hand, from the points: Σ (share - share before) (bytes + bytes before) / 2.
    assert!(
        (mean("web-search") - 1_711_250.0).abs() < 1e-3,
        "{}",
        mean("web-search")
    );
    assert!(
        (mean("data-mining") - 12_658_198.6).abs() < 1e-3,
        "{}",
        mean("data-mining")
    );
    assert_eq!(SizeTable::named("web"), None);
}

/// The shares of the drawn sizes are those of the table, and their means those of the distribution.
#[test]
fn draws_follow_their_distribution() {
    const COUNT: u32 = 200_000;
    for (name, _) in DISTRIBUTIONS {
        let table = SizeTable::named(name).unwrap();
        let sizes = draws(&Size::Table(table.clone()), COUNT);
        for point in table.points() {
            let below = sizes.iter().filter(|size| **size <= point.bytes).count();
            let share = below as f64 / f64::from(COUNT);
            // Four standard deviations of a share of 0.5.
            assert!(
                (share - point.share).abs() < 0.0045,
                "{name}: {share}, {point:?}"
            );
        }
    }
    for size in [
        Size::Uniform { from: 100, to: 900 },
        Size::Exponential { mean: 50_000 },
        // With a shape of 3 the variance is finite, so that the mean of the draws converges.
        Size::Pareto {
            mean: 50_000,
            shape: 3.0,
        },
    ] {
        let sizes = draws(&size, COUNT);
        let mean = sizes.iter().sum::<u64>() as f64 / f64::from(COUNT);
        assert!((mean / size.mean() - 1.0).abs() < 0.01, "{size:?}: {mean}");
        assert!(sizes.iter().all(|size| *size > 0));
    }
}

#[test]
fn a_table_may_begin_with_an_atom() {
    let table: SizeTable = "# sizes\n100 0.5\n200 1\n".parse().unwrap();
    assert_eq!(table.mean(), 0.5 * 100.0 + 0.5 * 150.0);
    assert_eq!(table.quantile(0.0), 100.0);
    assert_eq!(table.quantile(0.49), 100.0);
    assert_eq!(table.quantile(0.75), 150.0);
    // Two points of one size are one size with their share; two of one share are a gap.
    let table: SizeTable = "1 0\n1 0.5\n9 0.5\n10 1".parse().unwrap();
    assert_eq!(table.quantile(0.25), 1.0);
    assert_eq!(table.quantile(0.5), 9.0);
}

#[test]
fn errors_have_the_line() {
    for (text, error) in [
        ("", "no line with a size and a share"),
        ("# nothing\n", "no line with a size and a share"),
        ("10", "line 1: `10`: expected a size in bytes"),
        ("10 1.5", "line 1: `10 1.5`: expected"),
        ("10 nan", "line 1: `10 nan`: expected"),
        ("-1 1", "line 1: `-1 1`: expected"),
        ("10 1 x", "line 1: `10 1 x`: expected"),
        (
            "10 0.5\n\n9 1",
            "line 3: sizes and shares must not decrease; the line before has 10 0.5",
        ),
        (
            "10 0.5\n11 0.4",
            "line 2: sizes and shares must not decrease",
        ),
        (
            "10 0.5\n20 0.9\n# end\n",
            "line 2: the last line must have a size of more than 0 and the share 1",
        ),
        ("0 1", "line 1: the last line must have a size"),
    ] {
        let problem = text.parse::<SizeTable>().unwrap_err();
        assert!(problem.starts_with(error), "{text:?}: {problem}");
    }
}
