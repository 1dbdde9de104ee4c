//! `lisa theory`: the rates that theory predicts for the network of a scenario.

use std::collections::BTreeMap;

use clap::Args;
use netsim::Span;
use scenario::units::parse_time;
use scenario::view::View;
use serde::Serialize;
use theory::{Law, Network, Probing, fixed_point, optimum};

use crate::output::{Failure, print};
use crate::runs::arguments::Drawn;
use crate::tables::{NONE, row, table};
use crate::values;

/// `lisa theory`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    #[command(flatten)]
    pub drawn: Drawn,
    /// Queueing delay that is added to the round-trip time of each path, such as 70ms.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = values::Form::new("a time such as 70ms", parse_time))]
    pub queueing: Span,
    /// Print JSON (schema lisa.theory/1) instead of tables.
    #[arg(long)]
    pub json: bool,
}

const NOTES: &str = "\
Columns:
  fair                 proportionally fair rates with resource pooling (Kelly and Voice 2005)
  fair, probing        the same if each path carries at least one segment a round trip
  reno, lia, …         rates at rest if all connections with several paths use this congestion avoidance, by its
                       loss-throughput formula; those with one path use Reno
Rates are those of packets on the wire; a link drops what exceeds its rate. Starts, ends, sizes and queues do not matter.

Examples:
  lisa theory experiments/lia-olia/scenario-a.toml --queueing 70ms
  lisa theory experiments/lia-olia/scenario-c.toml --queueing 70ms --set topology.n1=30";

/// The JSON of the command.
#[derive(Serialize)]
struct Predictions {
    /// `lisa.theory/1`.
    schema: &'static str,
    /// Title of the scenario.
    scenario: String,
    /// Seed of the connections and paths.
    seed: u64,
    /// Queueing delay of each path, seconds.
    queueing_s: f64,
    /// A prediction each.
    predictions: Vec<Prediction>,
}

#[derive(Serialize)]
struct Prediction {
    /// `fair`, `fair-probing`, or the name of a congestion avoidance.
    name: &'static str,
    /// Why there is none; absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Connections, by name.
    connections: BTreeMap<String, Rates>,
    /// Loss probability of each link that loses packets; none for the fair rates.
    loss_rates: BTreeMap<String, f64>,
}

/// Rates of the connections of one name.
#[derive(Clone, Copy, Default, Serialize)]
struct Rates {
    /// Number of connections.
    connections: u32,
    /// Mean, Mbit/s.
    mean_mbps: f64,
    /// Smallest, Mbit/s.
    min_mbps: f64,
    /// Largest, Mbit/s.
    max_mbps: f64,
}

/// Prints the predictions for a scenario.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scenario = arguments.drawn.scenario()?;
    let view = View::new(&scenario, arguments.drawn.seed)?;
    let queueing_s = arguments.queueing.as_nanos() as f64 / 1e9;
    let failure =
        |error: theory::Error| Failure::new(format!("{}: {error}", arguments.drawn.file.display()));
    let network = Network::of(&view, queueing_s).map_err(failure)?;
    let predictions = Predictions {
        schema: "lisa.theory/1",
        scenario: scenario.title.clone(),
        seed: arguments.drawn.seed,
        queueing_s,
        predictions: predictions(&network),
    };
    if arguments.json {
        let json = serde_json::to_string(&predictions);
        let json = json.map_err(|error| Failure::new(error.to_string()))?;
        return print(&(json + "\n"));
    }
    print(&text(&predictions))
}

fn predictions(network: &Network) -> Vec<Prediction> {
    let fair = [("fair", Probing::Free), ("fair-probing", Probing::Segment)];
    let fair = fair.map(|(name, probing)| match optimum(network, probing) {
        Ok(rates) => prediction(name, network, &rates, &[]),
        Err(error) => none(name, &error),
    });
    let laws = Law::ALL.map(|law| match fixed_point(network, law) {
        Ok(found) => prediction(law.name(), network, &found.rates_mbps, &found.losses),
        Err(error) => none(law.name(), &error),
    });
    fair.into_iter().chain(laws).collect()
}

fn prediction(name: &'static str, network: &Network, rates: &[f64], losses: &[f64]) -> Prediction {
    let mut connections: BTreeMap<String, Rates> = BTreeMap::new();
    for (user, rate) in network.users.iter().zip(rates) {
        let start = Rates {
            min_mbps: f64::INFINITY,
            ..Rates::default()
        };
        let all = connections.entry(user.name.clone()).or_insert(start);
        all.connections += 1;
        all.mean_mbps += rate;
        all.min_mbps = all.min_mbps.min(rounded(*rate));
        all.max_mbps = all.max_mbps.max(rounded(*rate));
    }
    for all in connections.values_mut() {
        all.mean_mbps = rounded(all.mean_mbps / f64::from(all.connections));
    }
    let lossy = network
        .links
        .iter()
        .zip(losses)
        .filter(|(_, loss)| **loss > 0.0);
    Prediction {
        name,
        error: None,
        connections,
        loss_rates: lossy
            .map(|(link, loss)| (link.name.clone(), rounded(*loss)))
            .collect(),
    }
}

/// Five decimals: solvers end within 1e-6 of their result, at places that depend on the machine's logarithms.
fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

fn none(name: &'static str, error: &theory::Error) -> Prediction {
    Prediction {
        name,
        error: Some(error.to_string()),
        connections: BTreeMap::new(),
        loss_rates: BTreeMap::new(),
    }
}

fn text(all: &Predictions) -> String {
    let title = |prediction: &Prediction| match prediction.name {
        "fair-probing" => "fair, probing".to_owned(),
        name => name.to_owned(),
    };
    let titles: Vec<String> = all.predictions.iter().map(title).collect();
    let heading = |first: &[&'static str]| -> Vec<String> {
        (first.iter().map(|title| (*title).to_owned()))
            .chain(titles.iter().cloned())
            .collect()
    };
    let mut text = format!("{}\n\nMean rate of a connection [Mbit/s]\n", all.scenario);
    let names: Vec<String> = heading(&["connection", "number"]);
    let mut rates = table(&names.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    let first = all
        .predictions
        .iter()
        .find(|prediction| prediction.error.is_none());
    for (name, counted) in first.iter().flat_map(|first| &first.connections) {
        let mut cells = vec![name.clone(), counted.connections.to_string()];
        let cell = |prediction: &Prediction| {
            (prediction.connections.get(name))
                .map_or(NONE.into(), |rates| format!("{:.3}", rates.mean_mbps))
        };
        cells.extend(all.predictions.iter().map(cell));
        rates.add_row(row(1, cells));
    }
    text += &format!("{rates}\n\nLoss rate of a link [%]\n");
    let laws = &all.predictions[2..];
    let mut lossy: Vec<&String> = laws.iter().flat_map(|law| law.loss_rates.keys()).collect();
    lossy.sort();
    lossy.dedup();
    let names: Vec<&str> = std::iter::once("link")
        .chain(laws.iter().map(|law| law.name))
        .collect();
    let mut losses = table(&names, 1);
    for link in lossy {
        let cell = |law: &Prediction| match law.loss_rates.get(link) {
            Some(loss) => format!("{:.2}", 100.0 * loss),
            None if law.error.is_some() => NONE.into(),
            None => "0".into(),
        };
        let cells = std::iter::once(link.clone()).chain(laws.iter().map(cell));
        losses.add_row(row(1, cells.collect()));
    }
    text += &format!("{losses}\n");
    for prediction in &all.predictions {
        if let Some(error) = &prediction.error {
            text += &format!("{}: {error}\n", prediction.name);
        }
    }
    text
}
