//! `lisa kernel`: the algorithms in this Linux kernel.

mod arguments;
mod assist;
mod connections;
mod default;
mod doctor;
mod dry_run;
mod exec;
mod filters;
mod group;
mod load;
mod metrics;
mod service;
mod status;
mod summary;
mod switch;
mod top;
mod unload;

pub use self::arguments::Command;
use crate::output::Failure;
use kernel::doctor::Path;

/// Runs a command.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Load {
            name,
            default,
            max_connections,
            user_connections,
            unlimited_users,
            settings,
            dry_run,
        } => {
            let options = kernel::load::Options {
                max_connections,
                users: kernel::limits::Users {
                    unlimited: (!unlimited_users.is_empty()).then_some(unlimited_users),
                    connections: user_connections,
                },
                settings,
                ..Default::default()
            };
            match dry_run {
                true => dry_run::show(&name, &options, default),
                false => load::load(&name, &options, default),
            }
        }
        Command::Unload { name, wait } => unload::unload(&name, wait),
        Command::Default { name, off, all } => match name {
            Some(name) => default::make(&name),
            None if all => default::off_everywhere(),
            None if off => default::off(),
            None => default::show(),
        },
        Command::Off => switch::switch(true),
        Command::On => switch::switch(false),
        Command::Metrics { listen, textfile } => metrics::run(listen, textfile.as_deref()),
        Command::Status { json, filters } => status::print(json, &filters.into()),
        Command::Doctor { json, rate, rtt } => {
            doctor::print(json, rate.zip(rtt).map(|(rate, rtt)| Path { rate, rtt }))
        }
        Command::Top { filters, interval } => top::run(interval, filters.into()),
        Command::Group {
            token,
            assignments,
            reset,
        } => match token {
            _ if reset => group::reset(token),
            Some(token) if !assignments.is_empty() => group::request(token, &assignments),
            _ => group::show(token),
        },
        Command::Service { config, check } => match check {
            true => service::check(&config),
            false => service::run(&config),
        },
        Command::Assist(arguments) => assist::run(arguments),
        Command::Exec { name, command } => Err(exec::exec(&name, &command)),
    }
}
