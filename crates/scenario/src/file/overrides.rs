//! `--set KEY=VALUE`: changes of the tree before its check.

use super::node::{Entry, Node, Value, read_override};
use crate::error::{Error, Location, nearest, there_are};

/// Largest number of parts of a key: more than any key has.
const MAX_PARTS: usize = 16;

/// Applies an override to the tree.
pub(crate) fn apply(root: &mut Node, text: &str) -> Result<(), Error> {
    let wrong = |key: &str, problem: String| Error {
        file: String::new(),
        location: Location::Override(text.into()),
        key: key.into(),
        problem,
    };
    let Some((path, value)) = text.split_once('=') else {
        return Err(wrong("", "write it as KEY=VALUE, like stop=10s".into()));
    };
    let (path, value) = (path.trim(), value.trim());
    let change = match value {
        "" => Change::Remove,
        value => Change::Put(read_override(value, text)),
    };
    if let Change::Put(Node {
        value: Value::Text(value),
        ..
    }) = &change
        && value.starts_with(['[', '{'])
    {
        let problem = format!(
            "`{value}` is no list or table: texts in it have quotes, like `[{{ trace = \"wifi.up\" }}]`"
        );
        return Err(wrong(path, problem));
    }
    let keys = parts(path);
    if keys.len() > MAX_PARTS || keys.iter().any(|key| key.is_empty()) {
        let path: String = path.chars().take(64).collect();
        return Err(wrong(
            &path,
            "a key is like `topology.queue.packets`".into(),
        ));
    }
    apply_to(root, &keys, &change).map_err(|problem| wrong(path, problem))
}

/// Change of a key.
enum Change {
    Put(Node),
    Remove,
}

/// Applies a change, and reports a key that it did not find.
fn apply_to(root: &mut Node, keys: &[&str], change: &Change) -> Result<(), String> {
    match change {
        Change::Put(value) => put(root, keys, value),
        Change::Remove => match remove(root, keys)? {
            0 => Err("no such key to remove; an empty text is written as \"\"".into()),
            _ => Ok(()),
        },
    }
}

/// Removes a key wherever it is. Returns the number of removed keys.
fn remove(node: &mut Node, keys: &[&str]) -> Result<usize, String> {
    let Some((key, rest)) = keys.split_first() else {
        return Ok(0);
    };
    match &mut node.value {
        Value::Table(entries) => {
            let Some(at) = entries.iter().position(|entry| entry.key == *key) else {
                return Ok(0);
            };
            if rest.is_empty() {
                entries.remove(at);
                return Ok(1);
            }
            remove(&mut entries[at].node, rest)
        }
        Value::List(items) if *key == "*" && !rest.is_empty() => {
            items.iter_mut().map(|item| remove(item, rest)).sum()
        }
        Value::List(items) if *key == "*" => Ok(std::mem::take(items).len()),
        Value::List(items) => {
            let at = find(items, key)?;
            if rest.is_empty() {
                items.remove(at);
                return Ok(1);
            }
            remove(&mut items[at], rest)
        }
        _ => Ok(0),
    }
}

/// Parts of a key. `bottleneck` is an alias of `topology`.
pub(crate) fn parts(key: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = key.split('.').collect();
    if parts[0] == "bottleneck" {
        parts[0] = "topology";
    }
    parts
}

fn put(node: &mut Node, keys: &[&str], value: &Node) -> Result<(), String> {
    let Some((key, rest)) = keys.split_first() else {
        *node = value.clone();
        return Ok(());
    };
    match &mut node.value {
        Value::Table(entries) => {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *key) {
                if rest.is_empty() {
                    entry.location = value.location.clone();
                }
                return put(&mut entry.node, rest, value);
            }
            let mut inner = Node {
                value: Value::Table(Vec::new()),
                location: value.location.clone(),
            };
            put(&mut inner, rest, value)?;
            entries.push(Entry {
                key: (*key).into(),
                location: value.location.clone(),
                node: inner,
            });
            Ok(())
        }
        Value::List(items) if *key == "*" => {
            items.iter_mut().try_for_each(|item| put(item, rest, value))
        }
        Value::List(items) => {
            let at = find(items, key)?;
            put(&mut items[at], rest, value)
        }
        _ => Err(format!(
            "expected a table or a list before `{key}`, found {}",
            node.kind()
        )),
    }
}

/// Index of an item that is given by its name, or by its number from 1.
fn find(items: &[Node], key: &str) -> Result<usize, String> {
    if let Some(at) = items.iter().position(|item| item.name() == Some(key)) {
        return Ok(at);
    }
    match key.parse::<usize>() {
        Ok(number @ 1..) if number <= items.len() => Ok(number - 1),
        Ok(_) if items.len() == 1 => Err(format!("no number {key}: there is only 1")),
        Ok(_) => Err(format!("no number {key}: there are 1 to {}", items.len())),
        Err(_) => {
            let names: Vec<&str> = items.iter().filter_map(Node::name).collect();
            let nearest = nearest(key, names.iter().copied());
            let known = match &names[..] {
                [] => "nothing here has a name, use its number from 1".into(),
                names => there_are(names),
            };
            Err(format!("nothing named `{key}`{nearest}; {known}"))
        }
    }
}
