//! Sections of the pages of commands beyond `--help`.

use clap::{Arg, Command};
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// The command line: options with their values, then the other arguments. `--help` and `--version` are on every page, among the options.
pub fn synopsis(command: &Command) -> Roff {
    let mut line = vec![bold(command.get_bin_name().unwrap_or(command.get_name()))];
    let is_shown =
        |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(is_shown)
        .partition(|arg| arg.is_positional());
    for argument in options.into_iter().chain(positionals) {
        let (before, after) = match argument.is_required_set() {
            true => (" ", ""),
            false => (" [", "]"),
        };
        line.push(roman(before));
        line.extend(written(argument));
        line.push(roman(after));
    }
    if command.has_subcommands() {
        line.push(roman(" "));
        line.push(italic("COMMAND"));
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text(line);
    roff
}

/// An argument as it is written: `--listen ADDRESS:PORT`.
fn written(argument: &Arg) -> Vec<Inline> {
    let mut parts = Vec::new();
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) => parts.push(bold(format!("--{long}"))),
        (None, Some(short)) => parts.push(bold(format!("-{short}"))),
        (None, None) => {}
    }
    if argument.get_action().takes_values() {
        let names = argument.get_value_names().unwrap_or_default();
        for name in names {
            let space = if parts.is_empty() { "" } else { " " };
            parts.push(roman(space));
            parts.push(italic(name.to_string()));
        }
        if argument
            .get_num_args()
            .is_some_and(|range| range.max_values() > names.len().max(1))
        {
            parts.push(roman("…"));
        }
    }
    parts
}

/// What a command exits with, beside 0, 1, 2 and 130.
const EXIT_STATUS: [(&str, &str, &str); 4] = [
    (
        "lisa-kernel-exec",
        "other",
        "That of COMMAND; 127 if it does not exist, 126 if it cannot be started.",
    ),
    (
        "lisa-kernel-doctor",
        "1",
        "A finding prevents algorithms from running, or the examination failed.",
    ),
    (
        "lisa-kernel-unload",
        "1",
        "The algorithm is in use, or is not loaded; nothing was changed.",
    ),
    (
        "lisa-kernel-top",
        "1",
        "Standard output is no terminal, or no algorithm is loaded.",
    ),
];

/// Files of commands, by the start of their names.
const FILES: [(&[&str], &str, &str); 13] = [
    (
        &[
            "lisa-run",
            "lisa-compare",
            "lisa-sweep",
            "lisa-show",
            "lisa-paths",
            "lisa-theory",
            "lisa-new",
        ],
        "FILE.toml",
        "A scenario: lisa-scenario(5).",
    ),
    (
        &["lisa-paths"],
        "FILE.gml",
        "A map in the Graph Modelling Language, such as those of The Internet Topology Zoo.",
    ),
    (
        &["lisa-run", "lisa-compare", "lisa-sweep"],
        "FILE.part",
        "The file of --output while it is incomplete; of a sweep, the journal of the finished runs, which --resume reads.",
    ),
    (
        &["lisa-run", "lisa-compare", "lisa-sweep", "lisa-demo"],
        "~/.cache/lisa/",
        "The kernels of --on vm, as `make setup` fetches them.",
    ),
    (
        &["lisa-reproduce"],
        "~/.cache/lisa/reproduce/",
        "The outcomes of finished runs, of the present build of the simulator.",
    ),
    (
        &["lisa-explore"],
        "~/.cache/lisa/explorer.html",
        "The page with the scenario of the command line, unless -o names another file.",
    ),
    (
        &["lisa-plot"],
        "FILE.credits.jsonl",
        "The credits of a trace, beside its table.",
    ),
    (
        &["lisa-demo"],
        "out/demo/",
        "The report, unless --out names another directory.",
    ),
    (
        &["lisa-kernel"],
        "/etc/lisa.toml",
        "The state in which the service keeps the kernel: lisa.toml(5).",
    ),
    (
        &["lisa-kernel"],
        "/run/lisa/",
        "Locks and counters, until the next boot.",
    ),
    (
        &["lisa-kernel"],
        "/sys/fs/bpf/lisa/",
        "Programs of `lisa kernel exec`, while an algorithm is loaded.",
    ),
    (
        &["lisa-serve"],
        "/var/lib/lisa-manager/",
        "The database and the tokens of operator and viewer, unless --folder names another directory.",
    ),
    (
        &["lisa-completions"],
        "/etc/bash_completion.d/lisa",
        "The usual place of completions for bash.",
    ),
];

/// The text before the examples, and the examples.
pub fn notes_and_examples(help: &str) -> (&str, &str) {
    let heading = ["Examples:\n", "First steps:\n"];
    let found = heading.iter().find_map(|heading| help.split_once(heading));
    found.unwrap_or((help, ""))
}

/// A section of paragraphs, which blank lines separate; none without text.
pub fn paragraphs(roff: &mut Roff, title: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    roff.control("SH", [title]);
    for paragraph in text.trim().split("\n\n") {
        roff.control("PP", []);
        for line in paragraph.lines() {
            roff.text([roman(line)]);
        }
    }
}

/// A list of terms with their meaning.
fn terms<'a>(roff: &mut Roff, terms: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (term, meaning) in terms {
        roff.control("TP", []);
        roff.text([bold(term)]);
        roff.text([roman(meaning)]);
    }
}

/// EXIT STATUS.
pub fn exit_status(roff: &mut Roff, name: &str) {
    roff.control("SH", ["EXIT STATUS"]);
    let own = EXIT_STATUS
        .iter()
        .filter(|(command, _, _)| *command == name);
    let own: Vec<(&str, &str)> = own.map(|(_, code, meaning)| (*code, *meaning)).collect();
    let common = [
        ("0", "Done."),
        ("1", "Failed: a line on standard error says why."),
        ("2", "The arguments are wrong; nothing was done."),
        ("130", "Interrupted by Ctrl-C."),
    ];
    let common = common
        .into_iter()
        .filter(|(code, _)| own.iter().all(|(own, _)| own != code));
    let mut all: Vec<(&str, &str)> = common.chain(own.iter().copied()).collect();
    all.sort_unstable_by_key(|(code, _)| code.parse::<u8>().unwrap_or(u8::MAX));
    terms(roff, all);
}

/// FILES; none for a command that has no file of its own.
pub fn files(roff: &mut Roff, name: &str) {
    let own = FILES.iter().filter(|(commands, _, _)| {
        name == "lisa" || commands.iter().any(|command| name.starts_with(command))
    });
    let own: Vec<(&str, &str)> = own.map(|(_, file, meaning)| (*file, *meaning)).collect();
    if !own.is_empty() {
        roff.control("SH", ["FILES"]);
        terms(roff, own);
    }
}

/// EXAMPLES, line by line.
pub fn examples(roff: &mut Roff, text: &str) {
    roff.control("SH", ["EXAMPLES"]);
    verbatim(roff, text);
}

/// Lines as they are.
pub fn verbatim(roff: &mut Roff, text: &str) {
    roff.control("nf", []);
    for line in text.lines() {
        // The page has its own indentation.
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

/// SEE ALSO: the commands around this one, and its files.
pub fn see_also(roff: &mut Roff, name: &str, parent: Option<&str>, children: &[String]) {
    let mut pages: Vec<String> = (parent.into_iter().map(Into::into))
        .chain(children.iter().cloned())
        .map(|page: String| format!("{page}(1)"))
        .collect();
    let related: &[&str] = match name {
        "lisa-run" => &[
            "lisa-compare(1)",
            "lisa-sweep(1)",
            "lisa-show(1)",
            "lisa-new(1)",
        ],
        "lisa-compare" => &["lisa-run(1)", "lisa-sweep(1)", "lisa-algorithms(1)"],
        "lisa-sweep" => &["lisa-run(1)", "lisa-compare(1)", "lisa-algorithms(1)"],
        "lisa-explore" | "lisa-show" | "lisa-new" => &["lisa-run(1)", "lisa-compare(1)"],
        "lisa-paths" => &["lisa-show(1)", "lisa-kernel-group(1)", "lisa-serve(1)"],
        "lisa-serve" => &["lisa-paths(1)", "lisa-kernel-group(1)"],
        "lisa-algorithms" => &["lisa-compare(1)", "lisa-kernel-load(1)"],
        "lisa-demo" | "lisa-reproduce" => &["lisa-compare(1)"],
        "lisa-kernel-exec" => &[
            "lisa-kernel-load(1)",
            "lisa-kernel-status(1)",
            "ip-mptcp(8)",
        ],
        "lisa-kernel-service" => &["systemctl(1)", "journalctl(1)"],
        name if name.starts_with("lisa-kernel-") => &[
            "lisa-kernel-load(1)",
            "lisa-kernel-status(1)",
            "lisa-kernel-doctor(1)",
        ],
        _ => &[],
    };
    pages.extend(related.iter().map(ToString::to_string));
    let file = match name {
        "lisa" => &["lisa-scenario(5)", "lisa.toml(5)"][..],
        name if name.starts_with("lisa-kernel") => &["lisa.toml(5)"],
        "lisa-completions" | "lisa-man" | "lisa-algorithms" | "lisa-serve" => &[],
        _ => &["lisa-scenario(5)"],
    };
    pages.extend(file.iter().map(ToString::to_string));
    pages.retain(|page| *page != format!("{name}(1)"));
    references(roff, &pages);
}

/// The section SEE ALSO with these pages.
pub fn references(roff: &mut Roff, pages: &[String]) {
    roff.control("SH", ["SEE ALSO"]);
    let mut inlines = Vec::new();
    for page in pages {
        let (name, section) = page.split_once('(').expect("a page has a section");
        let comma = if inlines.is_empty() { "" } else { ", " };
        inlines.extend([roman(comma), bold(name), roman(format!("({section}"))]);
    }
    roff.text(inlines);
}
