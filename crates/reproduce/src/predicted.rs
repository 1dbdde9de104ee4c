//! Lines that theory predicts.

use scenario::units;
use scenario::view::View;
use theory::{Law, Network, Probing, fixed_point, optimum};

use crate::paper::{Figure, Measure, Paper};
use crate::plan::Run;
use crate::{Error, Variant};

/// What theory predicts for a measure: a mean rate of connections, or the loss rate of a link. None for other measures, or where
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
        .setting
        .and_then(|setting| setting.queueing.as_ref());
    let queueing = match queueing.or(figure.queueing.as_ref()) {
        Some(time) => units::parse_time(time).map_err(&wrong)?.as_secs_f64(),
        None => 0.0,
    };
    let view = View::new(&run.scenario()?, run.seed)?;
    let network = Network::of(&view, queueing).map_err(|error| wrong(error.to_string()))?;
    let (rates, losses) = match name {
        "fair" => (optimum(&network, Probing::Free).ok(), Vec::new()),
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
        let rates = rates
            .as_ref()
            .filter(|_| measure.metric == "goodput_mbps")?;
        let users = network.users.iter().zip(rates);
        let of: Vec<f64> = users
            .filter(|(user, _)| measure.connection.as_ref() == Some(&user.name))
            .map(|(_, rate)| *rate)
            .collect();
        (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
    };
    let scaled = |measure: &Measure| value(measure).map(|value| value * measure.scale);
    Ok(figure.measures.iter().map(scaled).collect())
}
