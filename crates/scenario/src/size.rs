//! Sizes of transfers: fixed, or drawn from a distribution.

use std::str::FromStr;
use std::sync::Arc;

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::random::{exponential, pareto, unit};

/// Size of a transfer, bytes. A drawn size is at least a byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Size {
    /// `"300KB"`.
    Fixed(u64),
    /// `{ from = "10KB", to = "1MB" }`: uniformly distributed.
    Uniform {
        /// Smallest size.
        from: u64,
        /// Largest size.
        to: u64,
    },
    /// `{ mean = "100KB" }`: exponentially distributed.
    Exponential {
        /// Mean size.
        mean: u64,
    },
    /// `{ mean = "100KB", shape = 1.2 }`: Pareto distributed.
    Pareto {
        /// Mean size.
        mean: u64,
        /// Shape α, more than 1. The smaller, the heavier the tail; the variance is infinite up to 2.
        shape: f64,
    },
    /// `{ distribution = "web-search" }` or `{ cdf = "sizes.txt" }`: a tabulated distribution.
    Table(SizeTable),
}

/// Cumulative distribution of sizes, linear between its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeTable {
    points: Arc<[SizePoint]>,
}

/// A point of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePoint {
    /// Size, bytes.
    pub bytes: u64,
    /// Share of transfers that are not larger.
    pub share: f64,
}

/// Distributions with a name.
pub const DISTRIBUTIONS: [(&str, &str); 2] =
    [("web-search", WEB_SEARCH), ("data-mining", DATA_MINING)];

/// Flows of a cluster for web search: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4, with the points of the
/// TrafficGenerator of Bai et al. (github.com/HKUST-SING/TrafficGenerator, conf/DCTCP_CDF.txt). Mean: 1.7 MB.
const WEB_SEARCH: &str = "
    0         0
    10000     0.15
    20000     0.2
    30000     0.3
    50000     0.4
    80000     0.53
    200000    0.6
    1000000   0.7
    2000000   0.8
    5000000   0.9
    10000000  0.97
    30000000  1
";

/// Flows of a cluster for data mining: Greenberg et al., "VL2: a scalable and flexible data center network", SIGCOMM 2009, figure 2,
/// with the points of the same TrafficGenerator (conf/VL2_CDF.txt). Mean: 12.7 MB.
const DATA_MINING: &str = "
    0           0
    180         0.1
    216         0.2
    560         0.3
    900         0.4
    1100        0.5
    1870        0.6
    3160        0.7
    10000       0.8
    400000      0.9
    3160000     0.95
    100000000   0.98
    1000000000  1
";

impl Size {
    /// Draws a size. A fixed one takes nothing from the generator.
    pub fn draw(&self, generator: &mut impl Rng) -> u64 {
        let rounded = |bytes: f64| (bytes.round() as u64).max(1);
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Uniform { from, to } => {
                rounded(*from as f64 + (to - from) as f64 * unit(generator))
            }
            Self::Exponential { mean } => rounded(exponential(*mean as f64, generator)),
            Self::Pareto { mean, shape } => rounded(pareto(*mean as f64, *shape, generator)),
            Self::Table(table) => rounded(table.quantile(unit(generator))),
        }
    }

    /// Mean size, bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(bytes) => *bytes as f64,
            Self::Uniform { from, to } => (*from as f64 + *to as f64) / 2.0,
            Self::Exponential { mean } | Self::Pareto { mean, .. } => *mean as f64,
            Self::Table(table) => table.mean(),
        }
    }
}

impl SizeTable {
    /// The distribution of this name, one of [`DISTRIBUTIONS`].
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (_, text) = DISTRIBUTIONS.iter().find(|(known, _)| *known == name)?;
        Some(text.parse().expect("a valid table"))
    }

    /// Points in order of size; the last has the share 1.
    #[must_use]
    pub fn points(&self) -> &[SizePoint] {
        &self.points
    }

    /// Size, bytes, that this share of transfers does not exceed.
    fn quantile(&self, share: f64) -> f64 {
        let at = self.points.partition_point(|point| point.share <= share);
        let Some(above) = self.points.get(at) else {
            return self.points[self.points.len() - 1].bytes as f64;
        };
        // A table whose first share is more than 0 has that share of transfers of its first size.
        let Some(below) = at.checked_sub(1).map(|at| self.points[at]) else {
            return above.bytes as f64;
        };
        let within = (share - below.share) / (above.share - below.share);
        below.bytes as f64 + within * (above.bytes - below.bytes) as f64
    }

    fn mean(&self) -> f64 {
        let first = self.points[0].share * self.points[0].bytes as f64;
        let between = self.points.windows(2).map(|pair| {
            let middle = (pair[0].bytes as f64 + pair[1].bytes as f64) / 2.0;
            (pair[1].share - pair[0].share) * middle
        });
        first + between.sum::<f64>()
    }
}

/// Parses lines of a size in bytes and the share of transfers that are not larger. Lines that begin with `#` are comments. The
/// error is a text with the number of the line.
impl FromStr for SizeTable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut points: Vec<SizePoint> = Vec::new();
        let mut last = 0;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let point = point(text).map_err(|problem| format!("line {line}: {problem}"))?;
            if let Some(before) = points.last() {
                if point.bytes < before.bytes || point.share < before.share {
                    return Err(format!(
                        "line {line}: sizes and shares must not decrease; the line before has {} {}",
                        before.bytes, before.share
                    ));
                }
            }
            points.push(point);
            last = line;
        }
        match points.last() {
            Some(SizePoint { share: 1.0, bytes }) if *bytes > 0 => Ok(Self {
                points: points.into(),
            }),
            Some(point) => Err(format!(
                "line {last}: the last line must have a size of more than 0 and the share 1, not {} {}",
                point.bytes, point.share
            )),
            None => Err("no line with a size and a share, like `10000 0.15`".into()),
        }
    }
}

fn point(text: &str) -> Result<SizePoint, String> {
    let wrong =
        || format!("`{text}`: expected a size in bytes and a share from 0 to 1, like `10000 0.15`");
    let mut words = text.split_whitespace();
    let (Some(bytes), Some(share), None) = (words.next(), words.next(), words.next()) else {
        return Err(wrong());
    };
    let share: f64 = share.parse().map_err(|_| wrong())?;
    let bytes: u64 = bytes.parse().map_err(|_| wrong())?;
    if !(0.0..=1.0).contains(&share) || bytes > MAX_BYTES {
        return Err(wrong());
    }
    Ok(SizePoint { bytes, share })
}

/// Largest transfer, bytes: a petabyte.
pub(crate) const MAX_BYTES: u64 = 1_000_000_000_000_000;

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
