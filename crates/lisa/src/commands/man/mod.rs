//! `lisa man`: the manual pages. Those of commands are the texts of `--help`; those of files are pages of docs/.

mod files;
mod markdown;
mod sections;

use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::Roff;

use crate::output::Failure;

/// Writes all pages into a directory. `program` is the command line with all its commands.
pub fn write(program: Command, directory: &Path) -> Result<(), Failure> {
    for (name, text) in pages(program) {
        let path = directory.join(name);
        ::files::write(&path, text)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

/// The names of the files, and their text.
pub fn pages(program: Command) -> Vec<(String, String)> {
    let mut root = program.disable_help_subcommand(true);
    root.build();
    let mut pages = files::pages();
    let mut commands = vec![(root, None)];
    while let Some((command, parent)) = commands.pop() {
        let name = display_name(&command);
        pages.push((format!("{name}.1"), page(&command, parent.as_deref())));
        let children = command.get_subcommands().cloned();
        commands.extend(children.map(|child| (child, Some(name.clone()))));
    }
    pages.sort();
    pages
}

fn display_name(command: &Command) -> String {
    command
        .get_display_name()
        .unwrap_or(command.get_name())
        .into()
}

/// The page of a command.
fn page(command: &Command, parent: Option<&str>) -> String {
    let name = display_name(command);
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("lisa ", env!("CARGO_PKG_VERSION")))
        .manual("lisa");
    let mut text = Vec::new();
    let mut rendered = || {
        man.render_title(&mut text)?;
        man.render_name_section(&mut text)?;
        sections::synopsis(command).to_writer(&mut text)?;
        man.render_description_section(&mut text)?;
        man.render_options_section(&mut text)?;
        match command.has_subcommands() {
            true => man.render_subcommands_section(&mut text),
            false => Ok(()),
        }
    };
    rendered().expect("memory can be written");
    let mut roff = Roff::new();
    let help = command.get_after_help().map(ToString::to_string);
    let (notes, examples) = sections::notes_and_examples(help.as_deref().unwrap_or_default());
    sections::paragraphs(&mut roff, "NOTES", notes);
    sections::exit_status(&mut roff, &name);
    sections::files(&mut roff, &name);
    sections::examples(&mut roff, examples);
    let children: Vec<String> = command.get_subcommands().map(display_name).collect();
    sections::see_also(&mut roff, &name, parent, &children);
    String::from_utf8(text).expect("text is UTF-8") + &roff.to_roff()
}

#[cfg(test)]
mod tests;
