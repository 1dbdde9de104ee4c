//! Markdown as a manual page. Tables become lists: the first cell of a row is the term.

use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::sections::verbatim;

/// Writes the sections of a text whose second-level headings are wanted. The text before the first one has the heading "".
pub fn write(roff: &mut Roff, text: &str, wanted: impl Fn(&str) -> bool) {
    let mut page = Page::new(roff, wanted(""));
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        page.event(event, &wanted);
    }
}

/// The page and the text that is collected for its next line.
struct Page<'a> {
    roff: &'a mut Roff,
    is_wanted: bool,
    line: Vec<Inline>,
    /// The same text without fonts.
    plain: String,
    emphasis: bool,
    /// Lines of a code block.
    code: Option<String>,
    /// Titles of a table's columns.
    titles: Vec<String>,
    cells: Vec<(Vec<Inline>, String)>,
    in_item: bool,
}

impl<'a> Page<'a> {
    fn new(roff: &'a mut Roff, is_wanted: bool) -> Self {
        Self {
            roff,
            is_wanted,
            line: Vec::new(),
            plain: String::new(),
            emphasis: false,
            code: None,
            titles: Vec::new(),
            cells: Vec::new(),
            in_item: false,
        }
    }

    fn event(&mut self, event: Event<'_>, wanted: &impl Fn(&str) -> bool) {
        match event {
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => {
                self.plain.push_str(&text);
                self.line.push(bold(text.to_string()));
            }
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Start(Tag::Emphasis | Tag::Strong) => self.emphasis = true,
            Event::End(TagEnd::Emphasis | TagEnd::Strong) => self.emphasis = false,
            Event::Start(Tag::CodeBlock(_)) => self.code = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => {
                let code = self.code.take().unwrap_or_default();
                if self.is_wanted {
                    self.roff.control("PP", []);
                    self.roff.control("RS", ["4"]);
                    verbatim(self.roff, &code);
                    self.roff.control("RE", []);
                }
            }
            Event::Start(Tag::Item) => self.in_item = true,
            Event::End(TagEnd::Item) => {
                self.flush("IP");
                self.in_item = false;
            }
            Event::End(TagEnd::Heading(level)) => {
                let (_, title) = self.take();
                match level {
                    HeadingLevel::H1 => {}
                    HeadingLevel::H2 => {
                        self.is_wanted = wanted(&title);
                        if self.is_wanted {
                            self.roff.control("SH", [&title.to_uppercase()[..]]);
                        }
                    }
                    _ if self.is_wanted => {
                        self.roff.control("SS", [&title[..]]);
                    }
                    _ => {}
                }
            }
            Event::End(TagEnd::Paragraph) => {
                let kind = if self.in_item { "IP" } else { "PP" };
                self.flush(kind);
            }
            Event::End(TagEnd::TableCell) => {
                let cell = self.take();
                self.cells.push(cell);
            }
            Event::End(TagEnd::TableHead) => {
                self.titles = self.cells.drain(..).map(|(_, title)| title).collect();
            }
            Event::End(TagEnd::TableRow) => self.row(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.plain.push_str(text);
        self.line.push(match self.emphasis {
            true => italic(text),
            false => roman(text),
        });
    }

    fn take(&mut self) -> (Vec<Inline>, String) {
        (
            std::mem::take(&mut self.line),
            std::mem::take(&mut self.plain),
        )
    }

    /// Writes the collected text as a paragraph of this kind.
    fn flush(&mut self, kind: &str) {
        let (line, plain) = self.take();
        if !self.is_wanted || plain.trim().is_empty() {
            return;
        }
        match kind {
            "IP" => self.roff.control("IP", ["•", "2"]),
            kind => self.roff.control(kind, []),
        };
        self.roff.text(line);
    }

    /// Writes a row: the first cell, then the others, from the third on after their titles.
    fn row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        if !self.is_wanted {
            return;
        }
        let mut cells = cells.into_iter().zip(self.titles.clone());
        if let Some(((term, plain), _)) = cells.next() {
            match plain.is_empty() {
                // The row continues the one before.
                true => self.roff.control("IP", []),
                false => self.roff.control("TP", []).text(term),
            };
        }
        let mut line = Vec::new();
        let mut number = 0;
        let mut is_sentence = false;
        for ((inlines, plain), title) in cells {
            number += 1;
            if plain.is_empty() {
                continue;
            }
            // The cell before is a sentence, or a part of one.
            match (line.is_empty(), is_sentence) {
                (true, _) => {}
                (false, true) => line.push(roman(" ")),
                (false, false) => line.push(roman("; ")),
            }
            if number > 1 {
                let title = if is_sentence {
                    capitalized(&title)
                } else {
                    title
                };
                line.push(roman(format!("{title}: ")));
            }
            is_sentence = plain.ends_with('.');
            line.extend(inlines);
        }
        match line.is_empty() {
            true => self.roff.text([roman("(no more keys)")]),
            false => self.roff.text(line),
        };
    }
}

/// The text with a capital letter at its begin.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
