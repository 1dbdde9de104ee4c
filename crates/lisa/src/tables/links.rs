//! Tables of links. Of many links they show those with the highest values.

use scenario::Outcome;
use scenario::metrics::{Groups, Value};
use scenario::outcome::LinkOutcome;
use scenario::statistics::Mean;

use super::cells::mean;
use super::{MOST_ROWS, row, table};
use crate::output::counted;

/// Number of links in a selection.
const SELECTED: usize = 10;

/// The links that a table shows.
pub struct Selection<T> {
    /// The links, in their order in the scenario.
    pub shown: Vec<T>,
    /// Number of links that are left out.
    pub left_out: usize,
    /// Metric by which the links were selected.
    by: &'static str,
}

impl<T: Clone> Selection<T> {
    /// All links, or the [`SELECTED`] with the highest `value` if there are more than [`MOST_ROWS`].
    fn new(links: Vec<T>, by: &'static str, value: impl Fn(&T) -> f64) -> Self {
        let mut shown = links;
        let mut left_out = 0;
        if shown.len() > MOST_ROWS {
            let mut order: Vec<usize> = (0..shown.len()).collect();
            order.sort_by(|a, b| value(&shown[*b]).total_cmp(&value(&shown[*a])));
            order.truncate(SELECTED);
            order.sort_unstable();
            left_out = shown.len() - order.len();
            shown = order.iter().map(|link| shown[*link].clone()).collect();
        }
        Self {
            shown,
            left_out,
            by,
        }
    }

    /// The line below the table if links are left out; else empty.
    pub fn note(&self) -> String {
        match self.left_out {
            0 => String::new(),
            n => format!(
                "The {} links with the highest {} are shown; {} left out: --json prints all.\n",
                self.shown.len(),
                self.by,
                match n {
                    1 => "1 link is".into(),
                    n => format!("{} are", counted(n, "link")),
                }
            ),
        }
    }
}

/// The names of links that have any of the metrics; of many links those with the highest mean of the first metric of
/// links.
pub fn busiest(groups: &Groups) -> Selection<&str> {
    let metrics = groups.metrics.iter().enumerate();
    let of_links: Vec<usize> = metrics
        .filter(|(_, metric)| matches!(metric.value, Value::Link(_)))
        .map(|(number, _)| number)
        .collect();
    let Some(&first) = of_links.first() else {
        return Selection::new(Vec::new(), "", |_| 0.0);
    };
    let links = groups.links.iter().filter(|(_, samples)| {
        let mut metrics = of_links.iter();
        metrics.any(|metric| samples.mean(*metric).is_some())
    });
    let links = links.map(|(name, samples)| (name.as_str(), samples.mean(first)));
    let selection = Selection::new(links.collect(), groups.metrics[first].key, |(_, mean)| {
        mean.map_or(f64::NEG_INFINITY, |mean| mean.mean)
    });
    Selection {
        shown: selection.shown.iter().map(|(name, _)| *name).collect(),
        left_out: selection.left_out,
        by: selection.by,
    }
}

/// Outcomes of links over several runs.
#[derive(Default)]
pub struct Links {
    runs: Vec<Vec<LinkOutcome>>,
}

impl Links {
    /// Adds a run.
    pub fn add(&mut self, outcome: &Outcome) {
        self.runs.push(outcome.links.clone());
    }

    /// The links that have a rate or lost packets; of many links those with the highest utilisation.
    pub fn table(&self) -> String {
        let Some(first) = self.runs.first() else {
            return String::new();
        };
        let all = |link: usize| self.runs.iter().filter_map(move |links| links.get(link));
        let of = |link: usize, value: fn(&LinkOutcome) -> Option<f64>| {
            let values: Vec<f64> = all(link).filter_map(value).collect();
            Mean::of(&values)
        };
        let links = (0..first.len())
            .filter(|&link| all(link).any(|l| l.utilisation.is_some() || l.drops + l.losses > 0));
        let selection = Selection::new(links.collect(), "utilisation", |&link| {
            of(link, |l| l.utilisation).map_or(0.0, |mean| mean.mean)
        });
        // Few scenarios have lossy links or ECN.
        let some =
            |value: fn(&LinkOutcome) -> u64| self.runs.iter().flatten().any(|l| value(l) > 0);
        let (losses, marks) = (some(|l| l.losses), some(|l| l.marks));
        let mut heading = vec!["link", "utilisation\n[%]", "loss rate\n[%]"];
        heading.push("drops\n[packets]");
        heading.extend(losses.then_some("losses\n[packets]"));
        heading.extend(marks.then_some("marks\n[packets]"));
        heading.extend(["queue, mean\n[packets]", "queue, most\n[packets]"]);
        let mut table = table(&heading, 1);
        let decimals = usize::from(self.runs.len() > 1);
        for &link in &selection.shown {
            let percent = of(link, |l| l.utilisation.map(|part| part * 100.0));
            let count = |value: fn(&LinkOutcome) -> Option<f64>| mean(of(link, value), decimals);
            let rate = of(link, |l| l.loss_rate.map(|part| part * 100.0));
            let mut cells = vec![first[link].name.clone(), mean(percent, 1), mean(rate, 2)];
            cells.push(count(|l| Some(l.drops as f64)));
            cells.extend(losses.then(|| count(|l| Some(l.losses as f64))));
            cells.extend(marks.then(|| count(|l| Some(l.marks as f64))));
            cells.push(mean(of(link, |l| Some(l.queue_mean_packets)), 2));
            cells.push(
                all(link)
                    .map(|l| l.queue_max_packets)
                    .max()
                    .unwrap_or(0)
                    .to_string(),
            );
            table.add_row(row(1, cells));
        }
        format!("\n{table}\n{}", selection.note())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_links_those_with_the_highest_values_are_shown() {
        let value = |link: &u32| f64::from(link % 7);
        let few = Selection::new((0..40).collect(), "links.drops", value);
        assert_eq!((few.shown.len(), few.note()), (40, String::new()));
        let many = Selection::new((0..41).collect(), "links.drops", value);
        // 6, 13, 20, 27, 34 have the value 6, and of those with the value 5 the first five.
        assert_eq!(many.shown, [5, 6, 12, 13, 19, 20, 26, 27, 33, 34]);
        let note = "The 10 links with the highest links.drops are shown; 31 links are left out: --json prints all.\n";
        assert_eq!(many.note(), note);
    }
}
