//! Tables of links. Of many links they show those with the highest values.

use scenario::Outcome;
use scenario::metrics::{Groups, Value};
use scenario::outcome::LinkOutcome;
use scenario::statistics::Moments;

use super::{MOST_ROWS, row, table};
use crate::output::counted;
use scenario::study::cells::mean;

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
    runs: usize,
    links: Vec<Link>,
}

/// A link over several runs.
struct Link {
    name: String,
    /// Shares, in percent.
    utilisation: Moments,
    loss_rate: Moments,
    drops: Moments,
    losses: Moments,
    marks: Moments,
    queue_mean: Moments,
    queue_most: u64,
    /// Whether it has a rate or lost packets in a run.
    is_shown: bool,
}

impl Links {
    /// Adds a run.
    pub fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        for (number, link) in outcome.links.iter().enumerate() {
            if number == self.links.len() {
                self.links.push(Link::new(&link.name));
            }
            self.links[number].add(link);
        }
    }

    /// The links that have a rate or lost packets; of many links those with the highest utilisation.
    pub fn table(&self) -> String {
        if self.links.is_empty() {
            return String::new();
        }
        let links = self.links.iter().filter(|link| link.is_shown);
        let selection = Selection::new(links.collect(), "utilisation", |link| {
            link.utilisation.mean().map_or(0.0, |mean| mean.mean)
        });
        // Few scenarios have lossy links or ECN.
        let some = |value: fn(&Link) -> &Moments| {
            let mut means = self.links.iter().filter_map(|link| value(link).mean());
            means.any(|mean| mean.mean > 0.0)
        };
        let (losses, marks) = (some(|l| &l.losses), some(|l| &l.marks));
        let mut heading = vec!["link", "utilisation\n[%]", "loss rate\n[%]"];
        heading.push("drops\n[packets]");
        heading.extend(losses.then_some("losses\n[packets]"));
        heading.extend(marks.then_some("marks\n[packets]"));
        heading.extend(["queue, mean\n[packets]", "queue, most\n[packets]"]);
        let mut table = table(&heading, 1);
        let decimals = usize::from(self.runs > 1);
        for link in &selection.shown {
            let count = |values: &Moments| mean(values.mean(), decimals);
            let mut cells = vec![
                link.name.clone(),
                mean(link.utilisation.mean(), 1),
                mean(link.loss_rate.mean(), 2),
                count(&link.drops),
            ];
            cells.extend(losses.then(|| count(&link.losses)));
            cells.extend(marks.then(|| count(&link.marks)));
            cells.push(mean(link.queue_mean.mean(), 2));
            cells.push(link.queue_most.to_string());
            table.add_row(row(1, cells));
        }
        format!("\n{table}\n{}", selection.note())
    }
}

impl Link {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            utilisation: Moments::default(),
            loss_rate: Moments::default(),
            drops: Moments::default(),
            losses: Moments::default(),
            marks: Moments::default(),
            queue_mean: Moments::default(),
            queue_most: 0,
            is_shown: false,
        }
    }

    fn add(&mut self, link: &LinkOutcome) {
        for (values, value) in [
            (
                &mut self.utilisation,
                link.utilisation.map(|part| part * 100.0),
            ),
            (&mut self.loss_rate, link.loss_rate.map(|part| part * 100.0)),
            (&mut self.drops, Some(link.drops as f64)),
            (&mut self.losses, Some(link.losses as f64)),
            (&mut self.marks, Some(link.marks as f64)),
            (&mut self.queue_mean, Some(link.queue_mean_packets)),
        ] {
            value.into_iter().for_each(|value| values.add(value));
        }
        self.queue_most = self.queue_most.max(link.queue_max_packets);
        self.is_shown |= link.utilisation.is_some() || link.drops + link.losses > 0;
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
