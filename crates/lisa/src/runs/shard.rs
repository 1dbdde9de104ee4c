//! The option `--shard 2/3`.

use scenario::study::shard::{MOST, Shard};

use crate::values::Form;

/// Parses the value of the option.
pub fn parser() -> Form<Shard> {
    let form =
        format!("the part and the number of parts, such as 1/3, 2/3 and 3/3, of at most {MOST}");
    Form::new(form, |text| Shard::parse(text).ok_or_else(String::new))
}
