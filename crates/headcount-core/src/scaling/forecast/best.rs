//! Scores every model on what it said and what came, and goes by the best.
//!
//! A model says a number; wanted is a quantile, for a pool that is staffed for the mean is late
//! half of the time. So each model keeps, beside its number, how far above it the quantile of what
//! came lies. The score is the pinball loss of that: what is missed by a yard counts `quantile`,
//! what is had in excess the rest. It is compared with that of the last value over the very same
//! buckets; one that is not better by a margin is not used.

use super::{Forecaster, HORIZON_MAX, SEASON_MAX, bounded, is_sound};
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// How many buckets must have been scored before a model is believed.
const SCORES_MIN: u32 = 20;
/// Over how many buckets a score is a mean, at least; a season where that is longer.
const SPAN_MIN: u32 = 100;
/// How fast the distance of the quantile and the mean error follow.
const PACE: f64 = 0.05;
/// The furthest that a quantile lies above what is said, in mean errors.
const ABOVE_MAX: f64 = 1e3;

/// What [`Best`] is asked for.
///
/// ```
/// use headcount_core::forecast::{Best, BestConfig};
///
/// // Minutes, by the day, ten of them ahead.
/// let config = BestConfig { season: 1440, horizon: 10, ..BestConfig::default() };
/// assert_eq!(Best::new(config).chosen(), "naive", "nothing was scored yet");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct BestConfig {
    /// Buckets in a season; with fewer than 2 there is none. At most [`SEASON_MAX`]. Default: 1440.
    pub season: u32,
    /// How many buckets ahead, from 1 to [`HORIZON_MAX`]. Default: 1.
    pub horizon: u32,
    /// The share of the time that what comes should be no more than what is said. Default: 0.95.
    pub quantile: f64,
    /// By which share a model must be better than the last value. Default: 0.05.
    pub margin: f64,
}

impl Default for BestConfig {
    fn default() -> Self {
        Self { season: 1440, horizon: 1, quantile: 0.95, margin: 0.05 }
    }
}

/// The best of all models, by what they said so far.
///
/// ```
/// use headcount_core::forecast::{Best, BestConfig};
///
/// let mut best = Best::new(BestConfig { season: 6, ..BestConfig::default() });
/// for bucket in 0..300 {
///     best.observe([2.0, 3.0, 9.0, 30.0, 8.0, 4.0][bucket % 6]);
/// }
/// assert_eq!(best.chosen(), "seasonal_naive");
/// let next = best.forecast().expect("it has seen enough");
/// assert!((next - 2.0).abs() < 0.5);
/// ```
#[derive(Clone, Debug)]
pub struct Best {
    config: BestConfig,
    /// The last value first: the others are measured by it.
    models: Vec<Scored>,
    /// Buckets so far, for the place of what is said next.
    count: u64,
}

/// A model with what it said and how that did.
#[derive(Clone, Debug)]
struct Scored {
    model: Forecaster,
    /// What was said of the buckets to come, each in its place.
    said: Vec<Option<f64>>,
    /// How far the quantile lies above what is said, in mean errors: so it shrinks with them.
    above: f64,
    /// The mean error, without its sign.
    error: f64,
    /// The mean loss, and that of the last value over the same buckets.
    loss: f64,
    loss_of_naive: f64,
    scores: u32,
}

impl Best {
    /// One that knows nothing yet. Numbers out of their range are brought into it.
    #[must_use]
    pub fn new(config: BestConfig) -> Self {
        let quantile = config.quantile.clamp(0.001, 0.999);
        let config = BestConfig {
            season: config.season.min(SEASON_MAX),
            horizon: config.horizon.clamp(1, HORIZON_MAX),
            quantile: if quantile.is_nan() { 0.5 } else { quantile },
            ..config
        };
        let mut models = vec![Forecaster::naive(), Forecaster::holt()];
        if 2 <= config.season {
            models.push(Forecaster::seasonal_naive(config.season));
            models.push(Forecaster::holt_winters(config.season));
        }
        let scored = |model| Scored::new(model, config.horizon as usize);
        Self { config, models: models.into_iter().map(scored).collect(), count: 0 }
    }

    /// Takes in the number of the bucket that is over. What is no number is left out.
    pub fn observe(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let value = bounded(value);
        let horizon = self.config.horizon;
        let place = usize::try_from(self.count % u64::from(horizon)).unwrap_or(0);
        self.count = self.count.wrapping_add(1);
        let span = self.config.season.max(SPAN_MIN);
        let of_naive =
            self.models.first().and_then(|naive| naive.missed(place, value, &self.config));
        for scored in &mut self.models {
            scored.score(place, value, of_naive, (&self.config, span));
            scored.model.observe(value);
            scored.said[place] = scored.model.forecast(horizon);
        }
    }

    /// The quantile of the bucket at the horizon. `None`: not enough was observed.
    #[must_use]
    pub fn forecast(&self) -> Option<f64> {
        let best = self.best()?;
        best.model.forecast(self.config.horizon).map(|said| best.quantile(said))
    }

    /// The model that it goes by.
    #[must_use]
    pub fn chosen(&self) -> &'static str {
        self.best().map_or("naive", |best| best.model.name())
    }

    /// Every model with its mean pinball loss, as a share of that of the last value over the same
    /// buckets. `None`: it was not scored yet.
    pub fn losses(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        self.models.iter().map(|scored| (scored.model.name(), scored.share_of_naive()))
    }

    fn best(&self) -> Option<&Scored> {
        let is_better = |scored: &&Scored| {
            let share = scored.share_of_naive().filter(|_| SCORES_MIN <= scored.scores);
            share.is_some_and(|share| share < 1.0 - self.config.margin)
        };
        let share = |scored: &Scored| scored.share_of_naive().unwrap_or(f64::MAX);
        let better = self.models.iter().filter(is_better);
        let best = better.min_by(|a, b| share(a).total_cmp(&share(b)));
        best.or(self.models.first())
    }

    /// Writes down what it remembers.
    pub fn save(&self, notes: &mut Notes) {
        self.count.write(notes);
        self.models.iter().for_each(|scored| scored.save(notes));
    }

    /// Takes back what `save` wrote, or returns `None` where the notes do not fit.
    pub fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.count = Noted::read(notes)?;
        self.models.iter_mut().try_for_each(|scored| scored.load(notes))
    }
}

impl Scored {
    fn new(model: Forecaster, horizon: usize) -> Self {
        Self {
            model,
            said: vec![None; horizon],
            above: 0.0,
            error: 0.0,
            loss: 0.0,
            loss_of_naive: 0.0,
            scores: 0,
        }
    }

    /// The quantile, where that is what is said.
    fn quantile(&self, said: f64) -> f64 {
        bounded(said + self.above * self.error)
    }

    /// The pinball loss of what was said of the bucket that came.
    fn missed(&self, place: usize, came: f64, config: &BestConfig) -> Option<f64> {
        let short = came - self.quantile(self.said[place]?);
        let weight = if 0.0 <= short { config.quantile } else { config.quantile - 1.0 };
        Some((short * weight).min(super::VALUE_MAX))
    }

    fn score(
        &mut self,
        place: usize,
        came: f64,
        of_naive: Option<f64>,
        (config, span): (&BestConfig, u32),
    ) {
        let (Some(said), Some(loss)) = (self.said[place], self.missed(place, came, config)) else {
            return;
        };
        self.scores = self.scores.saturating_add(1).min(span);
        let share = 1.0 / f64::from(self.scores);
        self.loss += share * (loss - self.loss);
        self.loss_of_naive += share * (of_naive.unwrap_or(loss) - self.loss_of_naive);
        // One step for every bucket: up by more where more came, down by less where it did not,
        // and it comes to rest where the quantile lies.
        let is_more = self.quantile(said) < came;
        let step = if is_more { config.quantile } else { config.quantile - 1.0 };
        self.above = (self.above + PACE.max(share) * step).clamp(-ABOVE_MAX, ABOVE_MAX);
        self.error += share.max(PACE) * ((came - said).abs() - self.error);
    }

    fn share_of_naive(&self) -> Option<f64> {
        let is_scored = 0 < self.scores && 0.0 < self.loss_of_naive;
        is_scored.then(|| self.loss / self.loss_of_naive)
    }

    fn save(&self, notes: &mut Notes) {
        self.model.save(notes);
        self.said.iter().for_each(|said| said.write(notes));
        (self.above, self.error).write(notes);
        (self.loss, (self.loss_of_naive, self.scores)).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.model.load(notes)?;
        for said in &mut self.said {
            *said = Noted::read(notes)?;
        }
        (self.above, self.error) = Noted::read(notes)?;
        (self.loss, (self.loss_of_naive, self.scores)) = Noted::read(notes)?;
        let numbers = [self.above, self.error, self.loss, self.loss_of_naive];
        let all_sound = numbers.into_iter().chain(self.said.iter().flatten().copied());
        let is_known = all_sound.into_iter().all(is_sound);
        let is_near = self.above.abs() <= ABOVE_MAX;
        (is_known && is_near && 0.0 <= self.error && 0.0 <= self.loss_of_naive).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1 that look like chance.
    fn chance(seed: u64) -> impl Iterator<Item = f64> {
        let mut state = seed;
        std::iter::repeat_with(move || {
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        })
    }

    fn after(config: BestConfig, values: impl Iterator<Item = f64>) -> Best {
        let mut best = Best::new(config);
        values.for_each(|value| best.observe(value));
        best
    }

    /// A day of 48 buckets, with some noise.
    fn days(count: usize, noise: f64) -> impl Iterator<Item = f64> {
        let wave = |bucket: usize| (bucket as f64 / 48.0 * std::f64::consts::TAU).sin();
        chance(7)
            .take(count)
            .enumerate()
            .map(move |(bucket, chance)| 100.0 + 60.0 * wave(bucket) + noise * chance)
    }

    const DAY: BestConfig = BestConfig { season: 48, horizon: 6, quantile: 0.9, margin: 0.05 };

    #[test]
    fn a_day_is_forecast_by_its_season() {
        let best = after(DAY, days(48 * 20, 5.0));
        assert!(["seasonal_naive", "holt_winters"].contains(&best.chosen()), "{}", best.chosen());
        let shares: Vec<_> = best.losses().collect();
        assert!(shares[2].1.is_some_and(|share| share < 0.3), "{shares:?}");
    }

    #[test]
    fn a_walk_without_aim_is_left_to_the_last_value() {
        let mut at = 1000.0;
        let walk = chance(3).take(3000).map(move |step| {
            at += 10.0 * step;
            at
        });
        let best = after(BestConfig { horizon: 1, ..DAY }, walk);
        assert_eq!(best.chosen(), "naive", "{:?}", best.losses().collect::<Vec<_>>());
    }

    #[test]
    fn slopes_up_and_down_are_left_to_their_trend() {
        let height = |bucket: usize| 3.0 * (200.0 - (bucket % 400) as f64).abs();
        let slopes = chance(5).take(4000).enumerate();
        let best = after(DAY, slopes.map(|(bucket, chance)| height(bucket) + chance));
        assert_eq!(best.chosen(), "holt", "{:?}", best.losses().collect::<Vec<_>>());
    }

    #[test]
    fn a_few_good_guesses_are_no_proof() {
        let config = BestConfig { season: 6, horizon: 1, ..DAY };
        let saw = |count| (0..count).map(|bucket| [2.0, 30.0, 9.0, 1.0, 8.0, 40.0][bucket % 6]);
        assert_eq!(after(config, saw(20)).chosen(), "naive");
        assert_eq!(after(config, saw(60)).chosen(), "seasonal_naive");
    }

    #[test]
    fn a_season_that_ends_is_dropped() {
        let mut best = after(DAY, days(48 * 20, 5.0));
        assert_ne!(best.chosen(), "naive");
        let mut at = 100.0;
        for step in chance(9).take(48 * 20) {
            at += step;
            best.observe(at);
        }
        assert_eq!(best.chosen(), "naive", "{:?}", best.losses().collect::<Vec<_>>());
    }

    #[test]
    fn what_comes_is_no_more_than_was_said_as_often_as_was_asked() {
        for quantile in [0.5, 0.9] {
            let config = BestConfig { horizon: 1, quantile, ..DAY };
            let mut best = Best::new(config);
            let (mut held, mut asked) = (0, 0);
            for (bucket, value) in days(48 * 60, 20.0).enumerate() {
                if 48 * 10 < bucket {
                    asked += 1;
                    held += u32::from(best.forecast().is_some_and(|said| value <= said));
                }
                best.observe(value);
            }
            let share = f64::from(held) / f64::from(asked);
            assert!((share - quantile).abs() < 0.05, "{quantile}: {share}");
        }
    }

    #[test]
    fn notes_are_read_back_the_same() {
        let mut best = after(DAY, days(333, 5.0));
        let mut notes = Notes::default();
        best.save(&mut notes);
        let mut again = Best::new(DAY);
        again.load(&mut notes.reader()).expect("its own notes");
        for value in days(100, 9.0) {
            best.observe(value);
            again.observe(value);
            assert_eq!((best.forecast(), best.chosen()), (again.forecast(), again.chosen()));
        }
        let other = BestConfig { season: 24, ..DAY };
        assert_eq!(Best::new(other).load(&mut notes.reader()), None, "of another season");
    }
}
