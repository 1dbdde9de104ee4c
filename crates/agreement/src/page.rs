//! The figures of `docs/agreement.md` and `docs/fairness.md`, which this writes between marks. The prose stands in the files.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use scenario::metrics::METRICS;
use scenario::statistics::Mean;

use crate::judge::{Both, COMPARED, Compared, Line, Sign, Verdict};
use crate::long::{self, Shares};
use crate::results::Record;
use crate::suite::Suite;
use crate::{load, load_long, plot, root, shares, verdict};

/// Writes the tables and the plots of the pages.
pub fn write() -> Result<()> {
    write_transfers()?;
    write_shares()
}

fn write_shares() -> Result<()> {
    let (suite, record) = load_long()?;
    let (shares, missing) = shares(&suite, &record)?;
    let begin = "<!-- measured: cargo run --release -p lisa-agreement -- page -->\n";
    let path = root().join("docs/fairness.md");
    let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let text = format!(
        "{}\n{}",
        comparison(&record, &shares, missing),
        shares.table()
    );
    let page = between(&page, begin, "<!-- end -->", &text)
        .with_context(|| format!("{}: no `{}`", path.display(), begin.trim()))?;
    fs::write(&path, page).with_context(|| path.display().to_string())
}

/// The number of shares that agree.
fn comparison(record: &Record, shares: &Shares, missing: usize) -> String {
    let ((within, of), (all_within, all)) = (shares.count(true), shares.count(false));
    let runs = record.results.len();
    let lacks = match missing {
        0 => String::new(),
        runs => format!(" {runs} runs of the suite are not recorded yet."),
    };
    format!(
        "{}: {all} points, {runs} runs of the kernel, {} of the simulator at each point.{lacks} **The simulator is within {} at {within} of \
         the {of} points where the kernel's interval is at most ± {}**, and at {all_within} of all {all}.\n",
        record.about,
        long::SIMULATED,
        long::TOLERANCE,
        long::CLEAR
    )
}

fn write_transfers() -> Result<()> {
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
    for (number, compared) in COMPARED.iter().enumerate() {
        let name = format!(
            "docs/img/agreement-{}.svg",
            METRICS[compared.metric()].title
        );
        fs::write(root().join(name), plot::draw(&verdict, number))?;
    }
    Ok(())
}

/// The page with this text between the marks; none if the page lacks the marks.
fn filled(page: &str, mark: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    between(page, &begin, &end, text)
}

fn between(page: &str, begin: &str, end: &str, text: &str) -> Option<String> {
    let from = page.find(begin)? + begin.len();
    let to = from + page[from..].find(end)?;
    Some(format!(
        "{}\n{}\n\n{}",
        &page[..from],
        text.trim(),
        &page[to..]
    ))
}

/// The number of points and signs that agree, and the same number between two halves of the kernel's runs.
fn summary(suite: &Suite, record: &Record, verdict: &Verdict) -> String {
    let (within, of) = verdict.count();
    let share = 100.0 * within as f64 / of as f64;
    let runs = record.results.len();
    let mut text = format!(
        "{}. {of} points, {runs} runs on each side.\n\n**{within} of {of} points, {share:.0} %, are within the tolerances.** ",
        record.about
    );
    let connections = verdict.lines.len();
    let each = COMPARED.iter().enumerate().map(|(number, compared)| {
        let lines = verdict.lines.iter();
        let within = lines.filter(|line| line.metrics[number].within).count();
        format!("{} {within}", METRICS[compared.metric()].title)
    });
    let each: Vec<String> = each.collect();
    let _ = write!(
        text,
        "By metric, of {connections} connections: {}. ",
        each.join(", ")
    );
    let [odd, even] = [1, 0].map(|rest| record.results.with_seeds(|seed| seed % 2 == rest));
    let (chance, _) = Verdict::of(&suite.points, &odd, &even).count();
    let clear = verdict.clear().count();
    let same = verdict.clear().filter(|sign| sign.is_same()).count();
    let _ = writeln!(
        text,
        "The difference LISA − LIA is clear in the kernel {clear} times of {}; the simulator has the same sign {same} times.\n\n\
         For comparison, the effect of chance: the kernel's runs with odd seeds are within the tolerances of those with even seeds at {chance} of {of} points.",
        verdict.signs.len()
    );
    text
}

/// A table for each set.
fn points(verdict: &Verdict) -> String {
    let mut text = String::new();
    let titles = COMPARED.map(|compared| &METRICS[compared.metric()]);
    let mut set = "";
    for line in &verdict.lines {
        if line.name.set != set {
            set = &line.name.set;
            let _ = write!(text, "\n### {set}\n\n| setting | algorithm ");
            for metric in titles {
                let title = format!("{} [{}]", metric.title, metric.unit);
                let _ = write!(text, "| {title}, kernel | simulator | difference ");
            }
            let _ = writeln!(
                text,
                "|\n| --- | --- {}|",
                "| --: ".repeat(3 * COMPARED.len())
            );
        }
        let _ = write!(text, "| {} | {} ", line.name.setting, algorithm(line));
        for (both, compared) in line.metrics.iter().zip(&COMPARED) {
            let decimals = METRICS[compared.metric()].decimals;
            let _ = write!(
                text,
                "| {} | {} | {} ",
                mean(both.kernel, decimals),
                mean(both.simulator, decimals),
                difference(both, compared, decimals)
            );
        }
        text += "|\n";
    }
    text
}

/// The algorithm; of a competitor also its name.
fn algorithm(line: &Line) -> String {
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

/// The difference of the means: bold if it exceeds the tolerance, and in per cent if the tolerance is a share.
fn difference(both: &Both, compared: &Compared, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = both.difference else {
        return if both.within {
            "–".into()
        } else {
            "**–**".into()
        };
    };
    let half = ci95.map_or(String::new(), |half| format!(" ± {half:.decimals$}"));
    let share = match both.kernel {
        Some(kernel) if compared.share * kernel.mean > compared.floor => {
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
    for compared in &COMPARED {
        let metric = &METRICS[compared.metric()];
        let title = format!("{} [{}]", metric.title, metric.unit);
        let _ = write!(text, "| {title}, kernel | simulator | sign ");
    }
    let _ = write!(
        text,
        "|\n| --- | --- | --- {}|",
        "| --: | --: | --- ".repeat(COMPARED.len())
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
    fn text_is_written_between_its_marks() {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        let new = filled(page, "x", "new").unwrap();
        assert_eq!(new, "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n");
        assert_eq!(filled(&new, "x", "new").unwrap(), new);
        assert_eq!(filled(page, "y", "new"), None);
    }
}
