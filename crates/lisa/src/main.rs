//! The command line. Exit codes: 0 done, 1 failed, 2 wrong usage; `exec` has the exit code of its command.

mod algorithm_name;
mod cli;
mod commands;
mod figure;
mod output;
mod runs;
mod tables;
mod usage;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, error::ErrorKind};
use nix::sys::signal::{SigHandler, Signal, signal};

use cli::{Cli, Command};
use output::Failure;

fn main() -> ExitCode {
    lab::vm::be_guest();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // If the reader of a pipe closes it, as in `… | head`, the command ends quietly, or completes its files.
    if cli.command.writes_files() {
        output::need_no_reader();
    } else if !cli.command.clears_away() {
        // SAFETY: SIG_DFL installs no handler.
        unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.expect("a valid signal");
    }
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("lisa: {failure}");
            }
            ExitCode::from(failure.code)
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Algorithms { json } => commands::algorithms::list(json),
        Command::Kernel { command } => commands::kernel::run(command),
        Command::Run(arguments) => commands::run::run(arguments),
        Command::Compare(arguments) => commands::compare::run(arguments),
        Command::New(arguments) => commands::new::run(&arguments),
        Command::Show(arguments) => commands::show::run(&arguments),
        Command::Explore(arguments) => commands::explore::run(&arguments),
        Command::Paths(arguments) => commands::paths::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Theory(arguments) => commands::theory::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Plot(arguments) => commands::plot::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(arguments),
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "lisa", &mut std::io::stdout());
            Ok(())
        }
        Command::Man { directory } => commands::man::write(Cli::command(), &directory),
    }
}

/// Prints help on standard output, or an error as one line.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    let line = usage::line(error, &Cli::command(), &arguments);
    eprintln!("lisa: {line}");
    ExitCode::from(2)
}
