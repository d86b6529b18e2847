//! A frame with two axes, into which lines are drawn.

use super::scale::{Scale, short, time_unit};
use super::svg::{Svg, px};

/// About so many marks stand below the axis of time.
const TIME_MARKS: f64 = 10.0;

/// A value that is drawn as a gap, below all that can be: a number, so that it is not thinned out.
pub(super) const NOTHING: f64 = -1.0;

/// The part of a picture in which lines are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panel {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Seconds.
    pub(super) time: Scale,
    pub(super) values: Scale,
}

impl Panel {
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn x(&self, seconds: f64) -> f64 {
        self.left + self.width * self.time.place(seconds)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom() - self.height * self.values.place(value)
    }

    /// The axes, with numbers written by `say`, and the name above.
    pub(super) fn frame(&self, svg: &mut Svg, name: &str, say: impl Fn(f64) -> String) {
        svg.label("head", self.left, self.top - 7.0, name);
        self.time_grid(svg);
        for mark in self.values.marks() {
            let y = self.y(mark);
            svg.line("grid", (self.left, y), (self.left + self.width, y));
            svg.label("faint right", self.left - 8.0, y + 4.0, &say(mark));
        }
        svg.line("frame", (self.left, self.top), (self.left, self.bottom()));
        let right = (self.left + self.width, self.bottom());
        svg.line("frame", (self.left, self.bottom()), right);
    }

    /// A line from top to bottom at each round time.
    pub(super) fn time_grid(&self, svg: &mut Svg) {
        for (_, seconds) in self.times() {
            let x = self.x(seconds);
            svg.line("grid", (x, self.top), (x, self.bottom()));
        }
    }

    /// The round times below, and the name of the axis with its unit.
    pub(super) fn time_axis(&self, svg: &mut Svg) {
        for (text, seconds) in self.times() {
            let x = self.x(seconds);
            svg.line("frame", (x, self.bottom()), (x, self.bottom() + 4.0));
            svg.label("faint mid", x, self.bottom() + 18.0, &text);
        }
        let (unit, _) = time_unit(self.span());
        let middle = self.left + self.width / 2.0;
        svg.label("mid", middle, self.bottom() + 36.0, &format!("time ({unit})"));
    }

    fn span(&self) -> f64 {
        match self.time {
            Scale::Linear { min, max } => max - min,
            Scale::Powers { .. } => 0.0,
        }
    }

    /// Round times in their unit, and in seconds.
    fn times(&self) -> Vec<(String, f64)> {
        let (_, unit) = time_unit(self.span());
        let Scale::Linear { min, max } = self.time else { return Vec::new() };
        let scale = Scale::Linear { min: min / unit, max: max / unit };
        scale.about(TIME_MARKS).into_iter().map(|mark| (short(mark), mark * unit)).collect()
    }

    /// A line that keeps its value until the next point, with gaps where there is nothing and where
    /// it is above the panel.
    pub(super) fn steps(&self, points: &[(f64, f64)]) -> String {
        let top = match self.values {
            Scale::Linear { max, .. } => max,
            Scale::Powers { .. } => f64::INFINITY,
        };
        let mut path: Vec<String> = Vec::new();
        let mut pen_is_down = false;
        for &(seconds, value) in points {
            let (x, y) = (px(self.x(seconds)), px(self.y(value)));
            if pen_is_down {
                path.push(format!("H{x}"));
            }
            let is_drawn = NOTHING < value && value <= top;
            if is_drawn {
                path.push(if pen_is_down { format!("V{y}") } else { format!("M{x} {y}") });
            }
            pen_is_down = is_drawn;
        }
        path.concat()
    }

    /// What lies below such a line.
    pub(super) fn area(&self, points: &[(f64, f64)]) -> String {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return String::new();
        };
        let begin = format!("M{} {}", px(self.x(first.0)), px(self.bottom()));
        let steps = points
            .iter()
            .map(|&(seconds, value)| format!("H{}V{}", px(self.x(seconds)), px(self.y(value))));
        let end = format!("H{}V{}Z", px(self.x(last.0)), px(self.bottom()));
        std::iter::once(begin).chain(steps).chain([end]).collect::<Vec<_>>().concat()
    }
}
