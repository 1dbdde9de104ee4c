//! `lisa kernel top`: connections and subflows, live.

mod draw;
mod read;
mod view;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use kernel::filter::Filter;
use kernel::holders::Storage;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use self::read::Reader;
use self::view::{Next, View};
use crate::output::Failure;

/// Least ratio of the time between two updates to the time that an update takes. With the time to draw, `top` uses less than a
/// fifth of a CPU.
const COST: u32 = 6;

/// Shows the screen until `q` or Ctrl-C.
pub fn run(interval: Duration, filter: Filter) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::new(
            "top needs a terminal; `lisa kernel status --json` does not",
        ));
    }
    // Read the status first: an error is printed before the terminal changes.
    let mut storage = Storage::default();
    let mut reader = Reader::new(&mut storage)?;
    let mut view = View::new(filter);
    view.update(reader.read()?);
    let mut terminal = ratatui::try_init()?;
    let shown = (|| {
        let mut next = Instant::now() + interval.min(FIRST);
        loop {
            terminal.draw(|frame| draw::draw(frame, &mut view))?;
            while event::poll(next.saturating_duration_since(Instant::now()))? {
                match event::read()? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => {
                        if view.key(key) == Next::Quit {
                            return Ok(());
                        }
                    }
                    Event::Resize(..) => {}
                    _ => continue,
                }
                terminal.draw(|frame| draw::draw(frame, &mut view))?;
            }
            let begin = Instant::now();
            view.update(reader.read()?);
            next = begin + interval.max(begin.elapsed() * COST);
        }
    })();
    ratatui::restore();
    shown
}

/// Time until the second update, which has the first throughputs.
const FIRST: Duration = Duration::from_millis(250);
