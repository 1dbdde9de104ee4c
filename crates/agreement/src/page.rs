//! `docs/agreement.md`: its prose stands in the file, its figures are written between marks.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use scenario::metrics::METRICS;
use scenario::statistics::Mean;

use crate::judge::{Both, HELD, Held, Line, Sign, Verdict};
use crate::results::Record;
use crate::suite::Suite;
use crate::{load, plot, root, verdict};

/// Writes the page's figures and its pictures.
pub fn write() -> Result<()> {
    let (suite, record) = load()?;
    let (verdict, _) = verdict(&suite, &record)?;
    let path = root().join("docs/agreement.md");
    let mut page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    for (mark, text) in [
        ("summary", summary(&suite, &record, &verdict)),
        ("points", points(&verdict)),
        ("signs", signs(&verdict)),
    ] {
        page = filled(&page, mark, &text)
            .with_context(|| format!("{}: no `<!-- {mark} -->` and its end", path.display()))?;
    }
    fs::write(&path, page)?;
    for (number, held) in HELD.iter().enumerate() {
        let name = format!("docs/img/agreement-{}.svg", METRICS[held.metric()].title);
        fs::write(root().join(name), plot::draw(&verdict, number))?;
    }
    Ok(())
}

/// The page with this text between the marks.
fn filled(page: &str, mark: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let from = page.find(&begin)? + begin.len();
    let to = from + page[from..].find(&end)?;
    Some(format!(
        "{}\n{}\n\n{}",
        &page[..from],
        text.trim(),
        &page[to..]
    ))
}

fn summary(suite: &Suite, record: &Record, verdict: &Verdict) -> String {
    let (within, of) = verdict.count();
    let share = 100.0 * within as f64 / of as f64;
    let runs = record.results.len();
    let mut text = format!(
        "{}. {of} points, {runs} runs on each side.\n\n**{within} of {of} points, {share:.0} %, are within.** ",
        record.about
    );
    let connections = verdict.lines.len();
    let held = HELD.iter().enumerate().map(|(number, held)| {
        let count = verdict.lines.iter().filter(|line| line.held[number].within);
        format!("{} of {}", METRICS[held.metric()].title, count.count())
    });
    let held: Vec<String> = held.collect();
    let _ = write!(text, "Of {connections} connections {}. ", held.join(", "));
    let [odd, even] = [1, 0].map(|rest| record.results.with_seeds(|seed| seed % 2 == rest));
    let (chance, _) = Verdict::of(&suite.points, &odd, &even).count();
    let clear = verdict.clear().count();
    let same = verdict.clear().filter(|sign| sign.is_same()).count();
    let _ = writeln!(
        text,
        "LISA − MPTCP is clear in the kernel {clear} times of {}; {same} times the simulator has the same sign.\n\n\
         How much is chance: the kernel's own runs with odd seeds are within of those with even seeds at {chance} of {of} points.",
        verdict.signs.len()
    );
    text
}

/// A table for each set.
fn points(verdict: &Verdict) -> String {
    let mut text = String::new();
    let titles = HELD.map(|held| &METRICS[held.metric()]);
    let mut set = "";
    for line in &verdict.lines {
        if line.name.set != set {
            set = &line.name.set;
            let _ = write!(text, "\n### {set}\n\n| setting | algorithm ");
            for metric in titles {
                let title = format!("{} [{}]", metric.title, metric.unit);
                let _ = write!(text, "| {title}, kernel | simulator | difference ");
            }
            let _ = writeln!(text, "|\n| --- | --- {}|", "| --: ".repeat(3 * HELD.len()));
        }
        let _ = write!(text, "| {} | {} ", line.name.setting, whose(line));
        for (both, held) in line.held.iter().zip(&HELD) {
            let decimals = METRICS[held.metric()].decimals;
            let _ = write!(
                text,
                "| {} | {} | {} ",
                mean(both.kernel, decimals),
                mean(both.simulator, decimals),
                difference(both, held, decimals)
            );
        }
        text += "|\n";
    }
    text
}

fn whose(line: &Line) -> String {
    match line.connection.as_str() {
        "download" => line.name.algorithm.clone(),
        other => format!("{} beside {}", other, line.name.algorithm),
    }
}

fn mean(mean: Option<Mean>, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = mean else {
        return "–".into();
    };
    let half = ci95.map_or(String::new(), |half| format!(" ± {half:.decimals$}"));
    format!("{mean:.decimals$}{half}")
}

/// Bold where it is too much; as a share where a share decides that.
fn difference(both: &Both, held: &Held, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = both.difference else {
        return if both.within {
            "–".into()
        } else {
            "**–**".into()
        };
    };
    let half = ci95.map_or(String::new(), |half| format!(" ± {half:.decimals$}"));
    let share = match both.kernel {
        Some(kernel) if held.share * kernel.mean > held.floor => {
            format!(", {:+.1} %", 100.0 * mean / kernel.mean)
        }
        _ => String::new(),
    };
    let text = format!("{mean:+.decimals$}{half}{share}");
    if both.within {
        text
    } else {
        format!("**{text}**")
    }
}

/// A row for each setting and connection.
fn signs(verdict: &Verdict) -> String {
    let mut text = String::from("| set | setting | connection ");
    for held in &HELD {
        let metric = &METRICS[held.metric()];
        let title = format!("{} [{}]", metric.title, metric.unit);
        let _ = write!(text, "| {title}, kernel | simulator | sign ");
    }
    let _ = write!(
        text,
        "|\n| --- | --- | --- {}|",
        "| --: | --: | --- ".repeat(HELD.len())
    );
    let mut row = None;
    for sign in &verdict.signs {
        let this = (&sign.name, &sign.connection);
        if row != Some(this) {
            row = Some(this);
            let (name, connection) = this;
            let _ = write!(text, "\n| {} | {} | {connection} |", name.set, name.setting);
        }
        let decimals = METRICS[sign.metric].decimals;
        let simulator = sign
            .simulator
            .map_or("–".into(), |mean| signed(mean, decimals));
        let _ = write!(
            text,
            " {} | {simulator} | {} |",
            signed(sign.kernel, decimals),
            word(sign)
        );
    }
    text
}

fn signed(mean: Mean, decimals: usize) -> String {
    let half = mean
        .ci95
        .map_or(String::new(), |half| format!(" ± {half:.decimals$}"));
    format!("{:+.decimals$}{half}", mean.mean)
}

fn word(sign: &Sign) -> &'static str {
    match (sign.is_clear(), sign.is_same()) {
        (false, _) => "",
        (true, true) => "same",
        (true, false) => "**other**",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_between_its_marks() {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        let new = filled(page, "x", "new").unwrap();
        assert_eq!(new, "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n");
        assert_eq!(filled(&new, "x", "new").unwrap(), new);
        assert_eq!(filled(page, "y", "new"), None);
    }
}
