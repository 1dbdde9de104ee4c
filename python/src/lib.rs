//! The native module of the Python package `lisa`: scenarios, runs and tables of `crates/scenario` as Python objects.
//!
//! The module converts values and releases the interpreter's lock while simulations run. It has no logic of its own; `python/lisa`
//! has the public interface.

mod catalogue;
mod compare;
mod error;
mod jobs;
mod outcomes;
mod scenario;
mod sweep;
mod table;
mod trace;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    let colour = |[red, green, blue]: [u8; 3]| format!("#{red:02x}{green:02x}{blue:02x}");
    let colours: Vec<String> = ::scenario::colours::SERIES
        .into_iter()
        .map(colour)
        .collect();
    module.add("COLOURS", colours)?;
    module.add("MOST_SEEDS", ::scenario::study::seeds::MOST)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<outcomes::Outcomes>()?;
    module.add_class::<compare::Comparison>()?;
    module.add_class::<sweep::Plan>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(catalogue::algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::paths_of_map, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::paths_of_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::plan, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::parse_seeds, module)?)
}
