//! The runs of the demo.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lab::{Error, Job, Runner};
use scenario::{Run, Scenario, Watch};

use super::cells::Cell;
use super::contenders::{CONTENDERS, bottlenecks};
use super::sides::Side;
use crate::output::Failure;
use crate::runs::execute::cores;
use crate::runs::progress::{self, Progress};

/// A cell with one of its seeds.
struct Planned {
    cell: usize,
    seed: u64,
}

/// Makes all runs, first on the kernel, then in the simulator with the same seeds.
pub fn measure(
    kernel: &mut Runner,
    runs: u32,
    cancelled: &Arc<AtomicBool>,
) -> Result<Vec<Cell>, Failure> {
    let mut cells: Vec<Cell> = bottlenecks()
        .into_iter()
        .flat_map(|bottleneck| {
            (0..CONTENDERS.len()).map(move |contender| Cell::new(bottleneck, contender))
        })
        .collect();
    let scenarios: Vec<Arc<Scenario>> = cells
        .iter()
        .map(|cell| Arc::new(cell.bottleneck.scenario(&CONTENDERS[cell.contender])))
        .collect();
    let planned = planned(cells.len(), runs);
    let job = |planned: &Planned| Job {
        scenario: scenarios[planned.cell].clone(),
        seed: planned.seed,
        watch: Watch {
            trace: true,
            ..Watch::default()
        },
    };
    let of = 2 * planned.len();
    let progress = Progress::new(of);
    let mut simulator = Runner::simulator(cores(), cancelled.clone());
    let mut finished = 0;
    for (side, runner) in [(Side::Kernel, kernel), (Side::Simulator, &mut simulator)] {
        progress.next_part(finished);
        finished += runner.run_all(
            planned.iter().map(job).collect(),
            |_, run: Result<Run, Error>| run.map_err(Failure::from),
            |finished| progress.tick(finished),
            |number, run| {
                cells[planned[number].cell].add(side, run);
                Ok(())
            },
        )?;
    }
    drop(progress);
    progress::ended(finished, of, "")?;
    Ok(cells)
}

/// All runs of a side. The contenders over a bottleneck take turns, so that other load on the machine affects all of them
/// alike.
fn planned(cells: usize, runs: u32) -> Vec<Planned> {
    let contenders = CONTENDERS.len();
    (0..cells / contenders)
        .flat_map(|group| (0..u64::from(runs)).map(move |seed| (group, seed)))
        .flat_map(|(group, seed)| {
            (0..contenders).map(move |contender| Planned {
                cell: group * contenders + contender,
                seed,
            })
        })
        .collect()
}
