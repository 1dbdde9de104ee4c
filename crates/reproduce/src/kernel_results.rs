//! The results of a kernel in a report.

use crate::assess::assess;
use crate::kernel::{Kernel, KernelResult, Support, not_run};
use crate::paper::Paper;
use crate::plan::Variant;
use crate::report::{Counts, Report};
use crate::rule::Verdict;
use crate::series::Series;
use crate::{Error, Store};

impl Report<'_> {
    /// Adds the results of a kernel, from the stores of simulations and of runs in VMs.
    ///
    /// # Errors
    /// Those of the figures.
    pub fn add_kernel(
        &mut self,
        kernel: Kernel,
        simulated: &Store,
        real: &Store,
    ) -> Result<(), Error> {
        let mut support = Support::default();
        for result in &mut self.papers {
            let paper = result.paper;
            let variant = kernel.variant(paper, self.seeds);
            let same = Variant {
                kernel: None,
                ..variant
            };
            for of in &mut result.figures {
                let figure = of.figure;
                let values = Series::read(paper, figure, variant, real)?;
                let simulated = Series::read(paper, figure, same, simulated)?;
                for claim in &mut of.claims {
                    let cause = not_run(paper, figure, claim.claim, variant, &mut support)?;
                    claim.kernel = match cause {
                        Some(cause) => KernelResult::not_run(cause),
                        None => {
                            let on = |series| assess(figure, claim.claim, claim.expected, series);
                            KernelResult {
                                assessment: on(&values),
                                not_run: String::new(),
                                simulated: Some(on(&simulated)),
                            }
                        }
                    };
                }
                of.kernel = Some(values);
            }
        }
        self.kernel = Some(kernel);
        Ok(())
    }

    /// Number of claims with each verdict on the kernel; of all papers, or one.
    #[must_use]
    pub fn kernel_counts(&self, paper: Option<&Paper>) -> Counts {
        let mut counts = Counts::default();
        for claim in self.claims(paper) {
            counts.add(claim.kernel.assessment.verdict, false);
        }
        counts
    }

    /// Number of claims with each verdict in the simulator, at the points and with the seeds of the kernel.
    #[must_use]
    pub fn same_counts(&self, paper: Option<&Paper>) -> Counts {
        let mut counts = Counts::default();
        for claim in self.claims(paper) {
            let simulated = claim.kernel.simulated.as_ref();
            counts.add(simulated.map_or(Verdict::NotRun, |one| one.verdict), false);
        }
        counts
    }
}
