//! A line of any number of points in bounded memory: the points themselves, or for many points the least, greatest and mean value of each
//! interval of time.

/// Number of points that are kept as they are.
const EXACT: usize = 4000;
/// Largest number of intervals.
const INTERVALS: usize = 4096;

/// Meaning of a point's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The value holds until the next point: a window.
    Holds,
    /// The value is that of the interval before the point: a sample.
    Interpolated,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Envelope {
    between: Between,
    points: Vec<(f64, f64)>,
    intervals: Vec<Interval>,
    /// Begin and width of the intervals.
    begin: f64,
    width: f64,
    last: Option<(f64, f64)>,
    least: f64,
    most: f64,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    least: f64,
    most: f64,
    /// Sum of the values, each times its weight.
    sum: f64,
    weight: f64,
}

const EMPTY: Interval = Interval {
    least: f64::INFINITY,
    most: f64::NEG_INFINITY,
    sum: 0.0,
    weight: 0.0,
};

impl Interval {
    fn add(&mut self, value: f64, weight: f64) {
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        self.sum += value * weight;
        self.weight += weight;
    }

    fn join(&self, other: &Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            sum: self.sum + other.sum,
            weight: self.weight + other.weight,
        }
    }

    fn mean(&self) -> f64 {
        match self.weight > 0.0 {
            true => self.sum / self.weight,
            false => (self.least + self.most) / 2.0,
        }
    }
}

/// The least, greatest and mean value around a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Middle of the interval.
    pub time: f64,
    /// Least value.
    pub least: f64,
    /// Greatest value.
    pub most: f64,
    /// Mean.
    pub mean: f64,
}

/// The form in which a line is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Points to connect.
    Points(Vec<(f64, f64)>),
    /// Ranges of intervals in order of time.
    Ranges(Vec<Range>),
}

impl Envelope {
    /// A line without points.
    pub fn new(between: Between) -> Self {
        Self {
            between,
            points: Vec::new(),
            intervals: Vec::new(),
            begin: 0.0,
            width: 0.0,
            last: None,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }

    /// Adds a point. A time before the last one counts as the last one.
    pub fn add(&mut self, time: f64, value: f64) {
        if !time.is_finite() || !value.is_finite() {
            return;
        }
        let time = self.last.map_or(time, |(last, _)| time.max(last));
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        if self.intervals.is_empty() {
            self.points.push((time, value));
            if self.points.len() > EXACT {
                let points = std::mem::take(&mut self.points);
                self.begin = points[0].0;
                let end = points[points.len() - 1].0;
                self.width = ((end - self.begin) * 1.1 / INTERVALS as f64).max(1e-9);
                (self.intervals, self.last) = (vec![EMPTY; INTERVALS], None);
                for (time, value) in points {
                    self.add_to_interval(time, value);
                }
            }
        } else {
            self.add_to_interval(time, value);
        }
        self.last = Some((time, value));
    }

    fn add_to_interval(&mut self, time: f64, value: f64) {
        while time >= self.begin + self.width * INTERVALS as f64 {
            let half: Vec<Interval> =
                (self.intervals.chunks(2).map(|pair| pair[0].join(&pair[1]))).collect();
            self.intervals = half;
            self.intervals.resize(INTERVALS, EMPTY);
            self.width *= 2.0;
        }
        let index = |time: f64| (((time - self.begin) / self.width) as usize).min(INTERVALS - 1);
        let (begin, width, at) = (self.begin, self.width, index(time));
        match (self.between, self.last) {
            (Between::Holds, Some((before, held))) => {
                let from = index(before);
                for number in from..=at {
                    let edge = begin + width * number as f64;
                    let part = (edge + width).min(time) - edge.max(before);
                    self.intervals[number].add(held, part.max(0.0));
                }
                self.intervals[at].add(value, 0.0);
            }
            (Between::Holds, None) => self.intervals[at].add(value, 0.0),
            (Between::Interpolated, _) => self.intervals[at].add(value, 1.0),
        }
        self.last = Some((time, value));
    }

    /// Least and greatest value and the times of the first and the last point; none without points.
    pub fn values(&self) -> Option<(f64, f64)> {
        (self.least <= self.most).then_some((self.least, self.most))
    }

    /// Time of the last point.
    pub fn end(&self) -> Option<f64> {
        self.last.map(|(time, _)| time)
    }

    /// Value at a time: of the last point until then, or about it.
    pub fn at(&self, time: f64) -> Option<f64> {
        if self.intervals.is_empty() {
            let after = self.points.partition_point(|(at, _)| *at <= time);
            return self
                .points
                .get(after.checked_sub(1)?)
                .map(|(_, value)| *value);
        }
        let index = ((time - self.begin) / self.width) as usize;
        let interval = self.intervals.get(index)?;
        (interval.least <= interval.most).then(|| interval.mean())
    }

    /// The line for a drawing that distinguishes this number of times.
    pub fn form(&self, times: usize) -> Form {
        let times = times.max(2);
        if self.intervals.is_empty() {
            if self.points.len() <= 2 * times {
                return Form::Points(self.connected());
            }
            let mut coarse = self.clone();
            let end = self.points[self.points.len() - 1].0;
            coarse.begin = self.points[0].0;
            coarse.width = ((end - coarse.begin) * 1.0001 / INTERVALS as f64).max(1e-9);
            (coarse.intervals, coarse.last) = (vec![EMPTY; INTERVALS], None);
            for &(time, value) in &self.points {
                coarse.add_to_interval(time, value);
            }
            return coarse.form(times);
        }
        let used = self.intervals.iter().rposition(|i| i.least <= i.most);
        let used = used.map_or(0, |last| last + 1);
        let together = used.div_ceil(times).max(1);
        let ranges = self.intervals[..used].chunks(together).enumerate();
        let ranges = ranges.filter_map(|(number, chunk)| {
            let all = chunk.iter().fold(EMPTY, |all, one| all.join(one));
            let middle = number * together;
            let time = self.begin + self.width * (middle as f64 + chunk.len() as f64 / 2.0);
            (all.least <= all.most).then(|| Range {
                time,
                least: all.least,
                most: all.most,
                mean: all.mean(),
            })
        });
        Form::Ranges(ranges.collect())
    }

    /// The points, with the corners of steps.
    fn connected(&self) -> Vec<(f64, f64)> {
        let mut line: Vec<(f64, f64)> = Vec::with_capacity(2 * self.points.len());
        for &(time, value) in &self.points {
            if let (Between::Holds, Some(&(_, held))) = (self.between, line.last()) {
                line.push((time, held));
            }
            line.push((time, value));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_kept() {
        let mut line = Envelope::new(Between::Holds);
        for (time, value) in [(0.0, 10.0), (1.0, 20.0), (3.0, 5.0)] {
            line.add(time, value);
        }
        let corners = vec![
            (0.0, 10.0),
            (1.0, 10.0),
            (1.0, 20.0),
            (3.0, 20.0),
            (3.0, 5.0),
        ];
        assert_eq!(line.form(100), Form::Points(corners));
        assert_eq!(
            (line.at(0.5), line.at(3.0), line.at(-1.0)),
            (Some(10.0), Some(5.0), None)
        );
        assert_eq!((line.values(), line.end()), (Some((5.0, 20.0)), Some(3.0)));
    }

    /// A saw from 1 to 10, a point each millisecond: the mean is 5.5.
    #[test]
    fn many_points_are_ranges_with_their_mean() {
        for count in [5_000, 1_000_000] {
            let mut line = Envelope::new(Between::Holds);
            for point in 0..count {
                line.add(f64::from(point) * 1e-3, f64::from(point % 10) + 1.0);
            }
            let Form::Ranges(ranges) = line.form(200) else {
                panic!("{count} points are too many");
            };
            assert!((100..=200).contains(&ranges.len()), "{}", ranges.len());
            for range in &ranges[1..ranges.len() - 1] {
                assert_eq!((range.least, range.most), (1.0, 10.0));
                assert!((range.mean - 5.5).abs() < 0.5, "{range:?}");
            }
            let end = f64::from(count) * 1e-3;
            assert!((ranges[ranges.len() - 1].time - end).abs() < end * 0.02);
        }
    }

    #[test]
    fn a_value_holds_over_a_gap() {
        let mut line = Envelope::new(Between::Holds);
        for point in 0..5_000 {
            line.add(f64::from(point) * 1e-3, 7.0);
        }
        line.add(100.0, 9.0);
        let Form::Ranges(ranges) = line.form(100) else {
            panic!("too many points");
        };
        assert!(ranges.len() > 40 && ranges[ranges.len() / 2].mean == 7.0);
        assert_eq!(line.at(50.0), Some(7.0));
    }

    #[test]
    fn wrong_times_do_no_harm() {
        let mut line = Envelope::new(Between::Holds);
        for point in 0..10_000 {
            line.add(1.0, f64::from(point));
            line.add(f64::NAN, 1.0);
            line.add(0.5, f64::INFINITY);
        }
        assert!(matches!(line.form(10), Form::Ranges(_)));
    }
}
