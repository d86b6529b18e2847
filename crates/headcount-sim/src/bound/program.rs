//! The linear program, as the solver wants it.
//!
//! It knows three numbers for each slot: the workers above the minimum, the hires, and the work
//! that is left, the last only where some may be. Everything is divided by the mean load before,
//! so that the solver meets numbers near one whatever the size of the run.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, SupportedConeT::NonnegativeConeT,
};

use super::slots::Slots;

/// The solver needs some thirty steps; where it needs more, its prices are still good for a bound.
const STEPS_MAX: u32 = 200;

/// What the solver believes: to be proved before it is used.
#[derive(Clone, Debug, Default)]
pub(super) struct Belief {
    /// Workers in each slot.
    pub(super) workers: Vec<f64>,
    /// Work left at the end of each slot.
    pub(super) left: Vec<f64>,
    /// What one more unit of work in a slot would cost.
    pub(super) work_price: Vec<f64>,
    /// What it would save to have had one worker more before a slot.
    pub(super) rise_price: Vec<f64>,
    /// What it would save to have the knee one worker higher.
    pub(super) knee_price: Vec<f64>,
}

/// Asks the solver; `hire` is what a hire costs in workers for one slot.
pub(super) fn solve(slots: &Slots, hire: f64) -> Belief {
    let scale = slots.work() / slots.len() as f64;
    let program = Program::of(slots, scale, hire);
    let settings = DefaultSettings { verbose: false, max_iter: STEPS_MAX, ..Default::default() };
    let nothing = CscMatrix::zeros((program.columns(), program.columns()));
    let cones = [NonnegativeConeT(program.limits.len())];
    let solver = DefaultSolver::new(
        &nothing,
        &program.cost,
        &program.matrix(),
        &program.limits,
        &cones,
        settings,
    );
    let mut solver = solver.expect("a program whose parts have the sizes that they say");
    solver.solve();
    program.belief(slots, scale, &solver.solution.x, &solver.solution.z)
}

/// Minimise `cost * x` such that no row of `entries` times `x` is above its limit.
struct Program {
    len: usize,
    /// The column of the work left in each slot, where some may be.
    left: Vec<Option<usize>>,
    cost: Vec<f64>,
    limits: Vec<f64>,
    entries: Entries,
}

#[derive(Default)]
struct Entries {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Entries {
    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
    }
}

impl Program {
    /// The rows of work come first, then those of rises, then the knee if there is one, and last
    /// the bounds of each number. Prices are read off in this order.
    fn of(slots: &Slots, scale: f64, hire: f64) -> Self {
        let len = slots.len();
        let mut columns = 2 * len;
        let left = slots.slack.iter().map(|&slack| {
            let column = (0.0 < slack).then_some(columns);
            columns += usize::from(column.is_some());
            column
        });
        let left: Vec<Option<usize>> = left.collect();
        let mut cost = vec![0.0; columns];
        cost[..len].fill(1.0);
        cost[len..2 * len].fill(hire);
        let mut program = Self { len, left, cost, limits: Vec::new(), entries: Entries::default() };
        program.add_work(slots, scale);
        program.add_rises(slots, scale);
        if slots.has_knee() {
            program.add_knee(slots, scale);
        }
        program.add_bounds(slots, scale);
        program
    }

    /// What arrives is done or left: `-above - left + left before <= min - arrived`.
    fn add_work(&mut self, slots: &Slots, scale: f64) {
        for index in 0..self.len {
            let row = self.row((slots.workers_min[index] - slots.arrived[index]) / scale);
            self.entries.add(row, index, -1.0);
            self.add_left(row, index);
        }
    }

    /// Who is there and was not before was hired.
    fn add_rises(&mut self, slots: &Slots, scale: f64) {
        let mut before = slots.workers_first;
        for index in 0..self.len {
            let row = self.row((before - slots.workers_min[index]) / scale);
            before = slots.workers_min[index];
            self.entries.add(row, index, 1.0);
            if 0 < index {
                self.entries.add(row, index - 1, -1.0);
            }
            self.entries.add(row, self.len + index, -1.0);
        }
    }

    /// No more is done than the knee allows: `-left + left before <= knee - arrived`.
    fn add_knee(&mut self, slots: &Slots, scale: f64) {
        for index in 0..self.len {
            // Where there is no knee, a limit that nothing reaches keeps the rows in step.
            let knee = slots.knee[index].min(2.0 * slots.work());
            let row = self.row((knee - slots.arrived[index]) / scale);
            self.add_left(row, index);
        }
    }

    fn add_bounds(&mut self, slots: &Slots, scale: f64) {
        for column in 0..self.cost.len() {
            let row = self.row(0.0);
            self.entries.add(row, column, -1.0);
        }
        for index in 0..self.len {
            if let Some(column) = self.left[index] {
                let row = self.row(slots.slack[index] / scale);
                self.entries.add(row, column, 1.0);
            }
        }
    }

    fn add_left(&mut self, row: usize, index: usize) {
        if let Some(column) = self.left[index] {
            self.entries.add(row, column, -1.0);
        }
        if let Some(column) = index.checked_sub(1).and_then(|before| self.left[before]) {
            self.entries.add(row, column, 1.0);
        }
    }

    fn row(&mut self, limit: f64) -> usize {
        self.limits.push(limit);
        self.limits.len() - 1
    }

    fn columns(&self) -> usize {
        self.cost.len()
    }

    fn matrix(&self) -> CscMatrix<f64> {
        let Entries { rows, columns, values } = &self.entries;
        CscMatrix::new_from_triplets(
            self.limits.len(),
            self.columns(),
            rows.clone(),
            columns.clone(),
            values.clone(),
        )
    }

    fn belief(&self, slots: &Slots, scale: f64, point: &[f64], prices: &[f64]) -> Belief {
        let len = self.len;
        let above = point[..len].iter().zip(&slots.workers_min);
        let left = self.left.iter().map(|column| column.map_or(0.0, |column| point[column]));
        Belief {
            workers: above.map(|(above, min)| above * scale + min).collect(),
            left: left.map(|left| left * scale).collect(),
            work_price: prices[..len].to_vec(),
            rise_price: prices[len..2 * len].to_vec(),
            knee_price: match slots.has_knee() {
                true => prices[2 * len..3 * len].to_vec(),
                false => vec![0.0; len],
            },
        }
    }
}
