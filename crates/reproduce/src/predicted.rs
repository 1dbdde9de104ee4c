//! Lines that theory predicts.

use scenario::units;
use scenario::view::View;
use theory::{Law, Network, Probing, fixed_point, optimum};

use crate::paper::{Figure, Measure, Paper};
use crate::plan::Run;
use crate::{Error, Variant};

/// What theory predicts for a measure: a mean rate of connections, a sum of rates, a share, or the loss rate of a link. None for other measures, or where
/// there is no fixed point.
pub(crate) fn values(
    paper: &Paper,
    figure: &Figure,
    run: &Run,
    name: &str,
    variant: Variant<'_>,
) -> Result<Vec<Option<f64>>, Error> {
    let wrong = |problem: String| Error::File {
        file: format!("experiments/papers/claims/{}.toml", paper.id),
        problem: format!("{}: {problem}", figure.id),
    };
    let queueing = variant
        .settings()
        .find_map(|setting| setting.queueing.as_ref());
    let queueing = match queueing.or(figure.queueing.as_ref()) {
        Some(time) => units::parse_time(time).map_err(&wrong)?.as_secs_f64(),
        None => 0.0,
    };
    let view = View::new(&run.scenario()?, run.seed)?;
    let network = Network::of(&view, queueing).map_err(|error| wrong(error.to_string()))?;
    let (rates, losses) = match name {
        "fair" => (optimum(&network, Probing::Free).ok(), Vec::new()),
        // NMCC, section VIII, equations 12 and 13: equal throughput at each time of a congestion round.
        "equal" => (Some(vec![1.0; network.users.len()]), Vec::new()),
        "fair-probing" => (optimum(&network, Probing::Segment).ok(), Vec::new()),
        law => {
            let law = Law::named(law).ok_or_else(|| wrong(format!("no prediction `{law}`")))?;
            match fixed_point(&network, law) {
                Ok(found) => (Some(found.rates_mbps), found.losses),
                Err(_) => (None, Vec::new()),
            }
        }
    };
    let value = |measure: &Measure| {
        if let Some(link) = &measure.link {
            let mut links = network.links.iter().zip(&losses);
            return links
                .find(|(one, _)| one.name == *link)
                .map(|(_, loss)| *loss);
        }
        let rates = rates.as_ref()?;
        let of = |is_meant: &dyn Fn(&str) -> bool| -> Vec<f64> {
            let users = network.users.iter().zip(rates);
            users
                .filter(|(user, _)| is_meant(&user.name))
                .map(|(_, rate)| *rate)
                .collect()
        };
        let of_connection = of(&|name| measure.connection.as_deref() == Some(name));
        let sum_among: f64 = of(&|name| measure.among.iter().any(|one| one == name))
            .iter()
            .sum();
        let sum: f64 = of_connection.iter().sum();
        match measure.metric.as_str() {
            "sum_goodput_mbps" => Some(sum_among),
            _ if of_connection.is_empty() => None,
            "share_among" => Some(sum / sum_among),
            "share" => Some(sum / of_connection.len() as f64 / rates.iter().sum::<f64>()),
            "goodput_mbps" if name != "equal" => Some(sum / of_connection.len() as f64),
            _ => None,
        }
    };
    let scaled = |measure: &Measure| value(measure).map(|value| value * measure.scale);
    Ok(figure.measures.iter().map(scaled).collect())
}
