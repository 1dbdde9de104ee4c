//! What `lisa run`, `lisa compare`, `lisa sweep` and `lisa demo` share: common arguments, scenarios with other
//! algorithms, and runs on a backend.

pub mod arguments;
pub mod execute;
pub mod files;
pub mod labels;
pub mod metric_names;
pub mod on;
pub mod progress;
pub mod rows;
pub mod rows_file;
pub mod shard;
pub mod traces;
