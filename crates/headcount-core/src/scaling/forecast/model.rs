//! One face for all models.

use super::bounded;
use super::holt::Holt;
use super::season::{HoltWinters, SeasonalNaive};
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// A model that is told a number for each bucket of time, and says what the next ones will be.
///
/// ```
/// use headcount_core::forecast::Forecaster;
///
/// let mut day = Forecaster::seasonal_naive(3);
/// for value in [10.0, 50.0, 20.0, 12.0] {
///     day.observe(value);
/// }
/// assert_eq!(day.forecast(1), Some(50.0), "as a season ago");
/// assert_eq!(day.forecast(2), Some(20.0));
/// assert_eq!(Forecaster::naive().forecast(1), None, "nothing was observed");
/// ```
#[derive(Clone, Debug)]
pub struct Forecaster {
    model: Model,
}

#[derive(Clone, Debug)]
enum Model {
    Naive(Option<f64>),
    Holt(Holt),
    SeasonalNaive(SeasonalNaive),
    HoltWinters(HoltWinters),
}

impl Forecaster {
    /// The last value goes on.
    #[must_use]
    pub fn naive() -> Self {
        Self { model: Model::Naive(None) }
    }

    /// Level and trend go on.
    #[must_use]
    pub fn holt() -> Self {
        Self { model: Model::Holt(Holt::default()) }
    }

    /// The value of a season ago comes again. A season has so many buckets, from 1 to
    /// [`SEASON_MAX`](super::SEASON_MAX).
    #[must_use]
    pub fn seasonal_naive(season: u32) -> Self {
        Self { model: Model::SeasonalNaive(SeasonalNaive::new(season)) }
    }

    /// Level and trend go on, and what a season adds to them comes again: Holt and Winters. A
    /// season has so many buckets, from 1 to [`SEASON_MAX`](super::SEASON_MAX).
    #[must_use]
    pub fn holt_winters(season: u32) -> Self {
        Self { model: Model::HoltWinters(HoltWinters::new(season)) }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.model {
            Model::Naive(_) => "naive",
            Model::Holt(_) => "holt",
            Model::SeasonalNaive(_) => "seasonal_naive",
            Model::HoltWinters(_) => "holt_winters",
        }
    }

    /// Takes in the number of the bucket that is over. What is no number is left out.
    pub fn observe(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let value = bounded(value);
        match &mut self.model {
            Model::Naive(last) => *last = Some(value),
            Model::Holt(holt) => holt.observe(value),
            Model::SeasonalNaive(seasonal) => seasonal.observe(value),
            Model::HoltWinters(winters) => winters.observe(value),
        }
    }

    /// The number of the bucket so many `steps` ahead; 1 is the next one. `None`: not enough was
    /// observed.
    #[must_use]
    pub fn forecast(&self, steps: u32) -> Option<f64> {
        let forecast = match &self.model {
            Model::Naive(last) => *last,
            Model::Holt(holt) => holt.forecast(steps),
            Model::SeasonalNaive(seasonal) => seasonal.forecast(steps),
            Model::HoltWinters(winters) => winters.forecast(steps),
        };
        forecast.map(bounded)
    }

    /// Writes down what it remembers.
    pub fn save(&self, notes: &mut Notes) {
        match &self.model {
            Model::Naive(last) => last.write(notes),
            Model::Holt(holt) => holt.write(notes),
            Model::SeasonalNaive(seasonal) => seasonal.save(notes),
            Model::HoltWinters(winters) => winters.save(notes),
        }
    }

    /// Takes back what `save` wrote, or returns `None` where the notes do not fit.
    pub fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        match &mut self.model {
            Model::Naive(last) => {
                *last = Noted::read(notes)?;
                last.is_none_or(super::is_sound).then_some(())
            }
            Model::Holt(holt) => {
                *holt = Noted::read(notes)?;
                Some(())
            }
            Model::SeasonalNaive(seasonal) => seasonal.load(notes),
            Model::HoltWinters(winters) => winters.load(notes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a model says of the next two buckets.
    fn check(mut model: Forecaster, values: &[f64], expected: [Option<f64>; 2]) {
        for value in values {
            model.observe(*value);
        }
        let told = [1, 2].map(|steps| model.forecast(steps));
        for (told, expected) in told.iter().zip(expected) {
            let is_near = match (told, expected) {
                (Some(told), Some(expected)) => (told - expected).abs() < 1e-6,
                (told, expected) => told.is_none() && expected.is_none(),
            };
            assert!(is_near, "{}: {told:?}, not {expected:?}", model.name());
        }
    }

    #[test]
    fn each_goes_on_in_its_own_way() {
        let slope: Vec<f64> = (0..400).map(f64::from).collect();
        check(Forecaster::naive(), &slope, [Some(399.0), Some(399.0)]);
        check(Forecaster::holt(), &slope, [Some(400.0), Some(401.0)]);
        let saw: Vec<f64> = (0..400).map(|bucket| f64::from(bucket % 4)).collect();
        check(Forecaster::seasonal_naive(4), &saw, [Some(0.0), Some(1.0)]);
        check(Forecaster::holt_winters(4), &saw, [Some(0.0), Some(1.0)]);
    }

    #[test]
    fn holt_and_winters_have_a_slope_and_a_season_at_once() {
        let value = |bucket: u32| f64::from(bucket) * 0.5 + f64::from(bucket % 4) * 10.0;
        let values: Vec<f64> = (0..4000).map(value).collect();
        check(Forecaster::holt_winters(4), &values, [Some(value(4000)), Some(value(4001))]);
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        check(Forecaster::naive(), &[], [None, None]);
        check(Forecaster::holt(), &[3.0], [Some(3.0), Some(3.0)]);
        check(Forecaster::seasonal_naive(3), &[1.0, 2.0], [None, None]);
        check(Forecaster::holt_winters(3), &[1.0, 2.0], [None, None]);
        check(Forecaster::seasonal_naive(3), &[1.0, 2.0, 4.0], [Some(1.0), Some(2.0)]);
    }

    #[test]
    fn no_number_is_too_wild() {
        let wild = [f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, -0.0, f64::MIN_POSITIVE];
        let models = || {
            [
                Forecaster::naive(),
                Forecaster::holt(),
                Forecaster::seasonal_naive(2),
                Forecaster::holt_winters(2),
            ]
        };
        for mut model in models() {
            for round in 0..50 {
                model.observe(wild[round % wild.len()]);
                let told = model.forecast(u32::MAX);
                assert!(told.is_none_or(f64::is_finite), "{}: {told:?}", model.name());
            }
            let mut notes = Notes::default();
            model.save(&mut notes);
            let mut again = models().into_iter().find(|other| other.name() == model.name());
            let again = again.as_mut().expect("there is one of every kind");
            again.load(&mut notes.reader()).expect("its own notes");
            assert_eq!(again.forecast(3), model.forecast(3));
            assert_eq!(again.load(&mut Notes::of_words(vec![u64::MAX; 9]).reader()), None);
        }
    }
}
