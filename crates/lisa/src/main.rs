//! The command line. Exit codes: 0 done, 1 failed, 2 wrong usage; `exec` has its command's.

mod algorithms;
mod cli;
mod default;
mod demo;
mod figure;
mod group;
mod kernel_commands;
mod output;
mod report;
mod simulate;
mod status;
mod top;

use clap::{CommandFactory, Parser, error::ErrorKind};
use nix::sys::signal::{SigHandler, Signal, signal};
use std::process::ExitCode;

fn main() -> ExitCode {
    lab::vm::be_guest();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    // A reader that has seen enough, as in `… | head`, ends the rest quietly, where there is nothing to clear away.
    if !cli.command.clears_away() {
        // SAFETY: SIG_DFL installs no handler.
        unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.expect("a signal that there is");
    }
    let done = match cli.command {
        cli::Command::Algorithms { json } => algorithms::list(json),
        cli::Command::Kernel { command } => kernel_commands::run(command),
        cli::Command::Run(arguments) => simulate::run(arguments),
        cli::Command::Compare(arguments) => simulate::compare(arguments),
        cli::Command::Sweep(arguments) => simulate::sweep(arguments),
        cli::Command::Demo { out, runs, json } => demo::run(&out, runs, json),
        cli::Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut cli::Cli::command(),
                "lisa",
                &mut std::io::stdout(),
            );
            Ok(())
        }
        cli::Command::Man { directory } => {
            clap_mangen::generate_to(cli::Cli::command(), &directory)
                .map_err(|error| output::Failure::new(format!("{}: {error}", directory.display())))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("lisa: {failure}");
            ExitCode::from(failure.code)
        }
    }
}

/// Help goes to standard output as it is; an error becomes one line.
fn usage(error: clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    let text = error.render().to_string();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let paragraphs: Vec<String> = text
        .split("\n\n")
        .map(words)
        .filter(|p| !p.is_empty() && !p.starts_with("Usage:") && !p.starts_with("For more"))
        .collect();
    let message = paragraphs
        .join("; ")
        .replacen("error: ", "", 1)
        .replace("tip: ", "");
    eprintln!("lisa: {message}; `--help` says more");
    ExitCode::from(2)
}
