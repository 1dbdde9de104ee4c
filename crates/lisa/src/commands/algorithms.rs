//! `lisa algorithms`: the algorithms, their settings and pages.

use std::collections::BTreeSet;

use kernel::requirements;
use mpcc::Algorithm;
use serde::Serialize;

use crate::output::{Failure, print, wrapped};
use crate::tables;

/// The version of the JSON (docs/algorithms.schema.json).
const SCHEMA: &str = "lisa.algorithms/2";

/// Names of the pages in docs/algorithms, from the build script.
const PAGES: &str = env!("ALGORITHM_PAGES");

#[derive(Serialize)]
struct List {
    schema: &'static str,
    here: Here,
    algorithms: Vec<Row>,
}

/// The running kernel.
#[derive(Serialize)]
struct Here {
    release: String,
    obstacle: Option<String>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    about: &'static str,
    slow_start: &'static str,
    avoidance: &'static str,
    runs_in: RunsIn,
    settings: Vec<Setting>,
    pages: Vec<String>,
}

#[derive(Serialize)]
struct Setting {
    name: &'static str,
    unit: &'static str,
    min: u32,
    max: u32,
    default: u32,
    about: &'static str,
}

impl From<mpcc::Setting> for Setting {
    fn from(setting: mpcc::Setting) -> Self {
        Self {
            name: setting.name,
            unit: setting.unit,
            min: *setting.range.start(),
            max: *setting.range.end(),
            default: setting.standard,
            about: setting.about,
        }
    }
}

#[derive(Serialize)]
struct RunsIn {
    /// Always true: the simulator is built from the same table.
    simulator: bool,
    kernel: Kernel,
}

#[derive(Serialize)]
struct Kernel {
    linux_own: bool,
    since: Option<String>,
}

impl From<Algorithm> for Row {
    fn from(algorithm: Algorithm) -> Self {
        let (major, minor) = requirements::OLDEST;
        let mut parts = vec![algorithm.slow_start(), algorithm.avoidance()];
        parts.dedup();
        let is_page = |part: &&str| PAGES.split(' ').any(|page| page == *part);
        Self {
            name: algorithm.name(),
            about: algorithm.about(),
            slow_start: algorithm.slow_start(),
            avoidance: algorithm.avoidance(),
            runs_in: RunsIn {
                simulator: true,
                kernel: Kernel {
                    linux_own: algorithm.in_linux(),
                    since: algorithm.is_loadable().then(|| format!("{major}.{minor}")),
                },
            },
            settings: algorithm.settings().map(Setting::from).collect(),
            pages: parts
                .into_iter()
                .filter(is_page)
                .map(|part| format!("docs/algorithms/{part}.md"))
                .collect(),
        }
    }
}

/// Prints the list.
pub fn list(json: bool) -> Result<(), Failure> {
    let list = List {
        schema: SCHEMA,
        here: Here {
            release: requirements::release(),
            obstacle: requirements::check().err().map(|error| error.to_string()),
        },
        algorithms: Algorithm::all().map(Row::from).collect(),
    };
    print(&if json {
        serde_json::to_string(&list).expect("plain data") + "\n"
    } else {
        list.text()
    })
}

impl List {
    fn text(&self) -> String {
        let heading = [
            "algorithm",
            "slow start",
            "avoidance",
            "kernel",
            "description",
            "pages",
        ];
        let mut table = tables::table(&heading, heading.len());
        for row in &self.algorithms {
            let kernel = match &row.runs_in.kernel {
                Kernel {
                    since: Some(version),
                    ..
                } => format!("from {version}"),
                Kernel {
                    linux_own: true, ..
                } => "Linux's own".into(),
                Kernel { .. } => "–".into(),
            };
            let pages: Vec<_> = row
                .pages
                .iter()
                .filter_map(|p| p.rsplit('/').next())
                .collect();
            table.add_row([
                row.name,
                row.slow_start,
                row.avoidance,
                &kernel,
                row.about,
                &pages.join(" "),
            ]);
        }
        let here = match &self.here.obstacle {
            None => "`lisa kernel load NAME` loads those with a version of the kernel".into(),
            Some(obstacle) => format!("nothing can be loaded here: {obstacle}"),
        };
        let notes = format!(
            "{}All run in the simulator. This is Linux {}: {here}.\nThe pages are in docs/algorithms; its README explains the pairs.",
            self.settings(),
            self.here.release
        );
        format!("{table}\n{}", wrapped(&notes))
    }

    /// A line for each setting, with the algorithms that have it.
    fn settings(&self) -> String {
        let mut text = String::from(
            "Settings, for `lisa kernel load NAME --set SETTING=VALUE` and scenarios:\n",
        );
        let all = || self.algorithms.iter().flat_map(|row| &row.settings);
        let names: BTreeSet<&str> = all().map(|setting| setting.name).collect();
        for name in names {
            let setting = all()
                .find(|setting| setting.name == name)
                .expect("one has it");
            let having = self
                .algorithms
                .iter()
                .filter(|row| row.settings.iter().any(|setting| setting.name == name));
            let having: Vec<_> = having.map(|row| row.name).collect();
            let Setting {
                unit,
                min,
                max,
                default,
                about,
                ..
            } = setting;
            text += &format!(
                "  {name} ({}): {about}; {min} to {max} {unit}, default {default}\n",
                having.join(", ")
            );
        }
        text
    }
}
