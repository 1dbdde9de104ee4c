//! Scales of axes: from values to pixels, the marks with their labels, and units that suit the values.

/// A range of values on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Value at the start of the axis.
    pub low: f64,
    /// Value at the end of the axis.
    pub high: f64,
    /// Whether equal ratios have equal lengths.
    pub is_logarithmic: bool,
    /// Whether only whole numbers have marks.
    pub is_whole: bool,
    /// Title with the unit.
    pub title: String,
    /// Factor of the values in the labels: 1000 for seconds that are shown as milliseconds.
    factor: f64,
}

impl Scale {
    /// A scale of values in this unit.
    pub fn new(low: f64, high: f64, title: &str, unit: &str) -> Self {
        let (low, high) = match high > low {
            true => (low, high),
            // A single value has the middle.
            false if low == 0.0 => (0.0, 1.0),
            false => (low - low.abs() * 0.1, low + low.abs() * 0.1),
        };
        let (factor, unit) = scaled(unit, low.abs().max(high.abs()));
        let title = match &*unit {
            "" => title.to_owned(),
            unit => format!("{title} [{unit}]"),
        };
        Self {
            low,
            high,
            is_logarithmic: false,
            is_whole: false,
            title,
            factor,
        }
    }

    /// A scale from the least to the largest of these values, with some space on both sides.
    pub fn around(values: impl IntoIterator<Item = f64>, title: &str, unit: &str) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (least, most) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| {
            (a.min(value), b.max(value))
        });
        if least > most {
            return Self::new(0.0, 1.0, title, unit);
        }
        let space = 0.06 * (most - least).max(most.abs() * 1e-3).max(1e-9);
        let low = match least >= 0.0 {
            true => (least - space).max(0.0),
            false => least - space,
        };
        Self::new(low, most + space, title, unit)
    }

    /// A scale over these values with some space above. The scale begins at zero, unless all values are close together and
    /// `from_zero` is false.
    pub fn over(
        values: impl IntoIterator<Item = f64>,
        from_zero: bool,
        title: &str,
        unit: &str,
    ) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (least, most) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| {
            (a.min(value), b.max(value))
        });
        if least > most {
            return Self::new(0.0, 1.0, title, unit);
        }
        let space = 0.06 * (most - least).max(most.abs() * 1e-3);
        let low = match () {
            () if least >= 0.0 && (from_zero || least < 0.6 * most || most == 0.0) => 0.0,
            () if from_zero => least.min(0.0) - space,
            () => least - space,
        };
        let high = match from_zero && most <= 0.0 {
            true => 0.0,
            false => most + 0.06 * (most - low).max(most.abs() * 1e-3),
        };
        Self::new(low, high, title, unit)
    }

    /// The same scale with equal lengths of equal ratios. All values must be above zero.
    pub fn logarithmic(mut self, low: f64, high: f64) -> Self {
        (self.low, self.high) = (low / 1.1, high * 1.1);
        self.is_logarithmic = true;
        self
    }

    /// The same scale with marks at whole numbers only.
    pub fn whole(mut self) -> Self {
        self.is_whole = self.factor == 1.0;
        self
    }

    /// Place of a value: 0 at the start of the axis, 1 at its end.
    pub fn place(&self, value: f64) -> f64 {
        match self.is_logarithmic {
            true => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// Values of at most `most` marks, with their labels.
    pub fn marks(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.max(2);
        if self.is_logarithmic {
            return self.ratios(most);
        }
        let (low, high) = (self.low * self.factor, self.high * self.factor);
        let rough = (high - low) / most as f64;
        let power = 10f64.powf(rough.log10().floor());
        // Steps of 25 and 250 have whole labels, those of 2.5 and less would need another decimal.
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let fits = |step: &f64| *step >= rough * 0.999 && (power >= 10.0 || *step != 2.5 * power);
        let step = steps.into_iter().find(fits);
        let step = step.unwrap_or(10.0 * power);
        let step = match self.is_whole {
            true => step.max(1.0),
            false => step,
        };
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let mark = |number: i64| {
            let value = number as f64 * step;
            (value / self.factor, minus(&format!("{value:.decimals$}")))
        };
        (first..=last).map(mark).collect()
    }

    /// Marks at 1, 2 and 5 of each power of ten, or at some of the powers.
    fn ratios(&self, most: usize) -> Vec<(f64, String)> {
        let (low, high) = (self.low * self.factor, self.high * self.factor);
        let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let all = |digits: &[f64], every: usize| -> Vec<f64> {
            let values = powers.clone().step_by(every);
            let values = values.flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
            let inside = |value: &f64| (low * 0.999..=high * 1.001).contains(value);
            values.filter(inside).collect()
        };
        let mut values = all(&[1.0, 2.0, 5.0], 1);
        let mut every = 1;
        while values.len() > most {
            values = all(&[1.0], every);
            every += 1;
        }
        let mark = |value: f64| (value / self.factor, short(value));
        values.into_iter().map(mark).collect()
    }

    /// A value in the unit of the axis.
    pub fn label(&self, value: f64) -> String {
        short(value * self.factor)
    }

    /// A value in the unit of the axis with this number of decimals.
    pub fn fixed(&self, value: f64, decimals: usize) -> String {
        minus(&format!("{:.decimals$}", value * self.factor))
    }

    /// Number of decimals that show two digits of a value. None for zero, and for numbers of more digits than a label has.
    pub fn decimals(&self, value: f64) -> Option<usize> {
        let size = (value * self.factor).abs().log10().floor();
        (-6.0..=9.0)
            .contains(&size)
            .then(|| (1.0 - size).max(0.0) as usize)
    }
}

/// A number with three or more digits, without zeros at its end.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs().log10().floor() as i32;
    if !(-6..=9).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (2 - size).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    minus(match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    })
}

/// A number with a minus sign instead of a hyphen.
pub fn minus(number: &str) -> String {
    number.replacen('-', "−", 1)
}

/// The factor and the unit for values of at most this size: 0.02 s are 20 ms.
fn scaled(unit: &str, most: f64) -> (f64, String) {
    let with = |factor, unit: &str| (factor, unit.to_owned());
    match unit {
        _ if most == 0.0 || !most.is_finite() => with(1.0, unit),
        "s" if most < 1e-6 => with(1e9, "ns"),
        "s" if most < 1e-3 => with(1e6, "µs"),
        "s" if most < 0.5 => with(1e3, "ms"),
        "s" if most > 172_800.0 => with(1.0 / 3600.0, "h"),
        "s" if most > 1800.0 => with(1.0 / 60.0, "min"),
        "Mbit/s" if most < 1e-3 => with(1e6, "bit/s"),
        "Mbit/s" if most < 0.5 => with(1e3, "kbit/s"),
        "Mbit/s" if most >= 1e4 => with(1e-3, "Gbit/s"),
        "bit/s" if most >= 1e10 => with(1e-9, "Gbit/s"),
        "bit/s" if most >= 1e6 => with(1e-6, "Mbit/s"),
        "bit/s" if most >= 1e4 => with(1e-3, "kbit/s"),
        "bytes" if most >= 1e10 => with(1e-9, "GB"),
        "bytes" if most >= 1e7 => with(1e-6, "MB"),
        "bytes" if most >= 1e4 => with(1e-3, "kB"),
        unit if !(1e-3..1e7).contains(&most) => {
            let power = 3 * (most.log10() / 3.0).floor() as i32;
            let exponent: String = power.to_string().chars().map(superscript).collect();
            (
                10f64.powi(-power),
                format!("10{exponent} {unit}").trim_end().to_owned(),
            )
        }
        unit => with(1.0, unit),
    }
}

fn superscript(digit: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match digit.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, most: usize) -> Vec<String> {
        scale
            .marks(most)
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn a_scale_around_values_begins_at_them() {
        let scale = |values: [f64; 2]| Scale::around(values, "x", "");
        let place = |values: [f64; 2]| scale(values).place(values[0]);
        for values in [[1.0, 9.0], [100.0, 101.0], [-3.0, 5.0]] {
            assert!((0.0..0.1).contains(&place(values)), "{values:?}");
        }
        assert_eq!(place([0.0, 5.0]), 0.0);
        assert!((0.0..=1.0).contains(&place([5.0, 5.0])));
        assert!((0.0..=1.0).contains(&place([0.0, 0.0])));
    }

    #[test]
    fn marks_are_round_numbers() {
        let seconds = Scale::new(0.0, 31.0, "time", "s");
        assert_eq!(labels(&seconds, 4), ["0", "10", "20", "30"]);
        let hour = Scale::new(0.0, 3600.0, "time", "s");
        assert_eq!(hour.title, "time [min]");
        assert_eq!(labels(&hour, 6), ["0", "10", "20", "30", "40", "50", "60"]);
        let short = Scale::new(0.0, 0.05, "time", "s");
        assert_eq!(
            (short.title.as_str(), labels(&short, 3).join(" ")),
            ("time [ms]", "0 20 40".into())
        );
        let tiny = Scale::new(0.0, 4e-9, "share", "");
        assert_eq!(
            (tiny.title.as_str(), labels(&tiny, 4).join(" ")),
            ("share [10⁻⁹]", "0 1 2 3 4".into())
        );
        let narrow = Scale::new(20.0, 930.0, "size", "");
        assert_eq!(labels(&narrow, 4), ["250", "500", "750"]);
        let same = Scale::over([5.0, 5.0], false, "x", "");
        assert!(same.low < 5.0 && same.high > 5.0);
    }

    #[test]
    fn a_logarithmic_scale_has_marks_at_1_2_5() {
        let scale = Scale::new(1.0, 100.0, "queue", "packets").logarithmic(1.0, 100.0);
        assert_eq!(labels(&scale, 10), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(&scale, 4), ["1", "10", "100"]);
        assert!((scale.place(10.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn values_close_together_do_not_begin_at_zero() {
        assert_eq!(Scale::over([1.0, 5.0], false, "", "").low, 0.0);
        assert!(Scale::over([4.0, 5.0], false, "", "").low > 3.0);
        assert_eq!(Scale::over([4.0, 5.0], true, "", "").low, 0.0);
        assert!(Scale::over([-4.0, 5.0], true, "", "").low < -4.0);
    }
}
