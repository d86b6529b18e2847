//! Policies compared by two numbers.

use super::scale::{Scale, short};
use super::svg::{Svg, px, shortened};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 60.0;
const NAME_CHARS_MAX: usize = 28;
/// So wide is a letter, about, and so high a line.
const LETTER: (f64, f64) = (6.9, 13.0);

/// Points with names, on axes that count in powers of ten.
///
/// A number of zero has no place on such an axis; it is drawn at its lower end. What is no number
/// is not drawn.
///
/// ```
/// use headcount_sim::report::{Scatter, ScatterPoint};
///
/// let point = |name: &str, x, y| ScatterPoint { name: name.to_owned(), x, y, is_ours: false };
/// let scatter = Scatter {
///     title: "Azure code, cheap workers".to_owned(),
///     x_name: "J (1 is the work itself)".to_owned(),
///     y_name: "late (%)".to_owned(),
///     points: vec![point("ants", 1.36, 0.0), point("HPA", 5.96, 25.0)],
/// };
/// assert!(scatter.svg().contains("HPA"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What it is about.
    pub title: String,
    /// What goes to the right, with its unit.
    pub x_name: String,
    /// What goes up, with its unit.
    pub y_name: String,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// One of them.
///
/// ```
/// use headcount_sim::report::ScatterPoint;
///
/// let point = ScatterPoint { name: "slo".to_owned(), x: 1.01, y: 0.0, is_ours: true };
/// assert!(point.is_ours);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterPoint {
    /// What it is called.
    pub name: String,
    /// How far to the right.
    pub x: f64,
    /// How far up.
    pub y: f64,
    /// Drawn so that it is found at once.
    pub is_ours: bool,
}

impl Scatter {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let is_drawn = |point: &&ScatterPoint| point.x.is_finite() && point.y.is_finite();
        let points: Vec<&ScatterPoint> = self.points.iter().filter(is_drawn).collect();
        let axes = Axes {
            x: axis(points.iter().map(|point| point.x)),
            y: axis(points.iter().map(|point| point.y)),
        };
        let picture = Svg::picture(WIDTH, HEIGHT, |svg| {
            svg.say("title", &[], &self.title);
            svg.label("title", LEFT, 30.0, &shortened(&self.title, 80));
            axes.draw(svg, &self.x_name, &self.y_name);
            draw_points(svg, &points, &axes);
        });
        picture.done()
    }
}

fn draw_points(svg: &mut Svg, points: &[&ScatterPoint], axes: &Axes) {
    let places: Vec<(f64, f64)> = points.iter().map(|point| axes.place(point)).collect();
    let dots = places.iter().map(|&(x, y)| Patch::around(x, y, 6.0));
    let mut taken: Vec<Patch> = dots.collect();
    for (point, &(x, y)) in points.iter().zip(&places) {
        let (class, radius) = if point.is_ours { ("fr1", "7") } else { ("fr0", "5") };
        let spot = [("class", class), ("cx", &px(x)), ("cy", &px(y)), ("r", radius)];
        let told = format!("{}: {}, {}", point.name, short(point.x), short(point.y));
        svg.within("circle", &spot, |svg| svg.say("title", &[], &told));
    }
    for (point, &at) in points.iter().zip(&places) {
        let name = shortened(&point.name, NAME_CHARS_MAX);
        let patch = free_patch(at, name.chars().count() as f64 * LETTER.0, &taken);
        draw_name(svg, &name, at, &patch, point.is_ours);
        taken.push(patch);
    }
}

/// From the least to the most, with room below where something is zero.
fn axis(values: impl Iterator<Item = f64> + Clone) -> Axis {
    let has_zero = values.clone().any(|value| value <= 0.0);
    let scale = match Scale::powers(values, 0.08) {
        Scale::Powers { min, max } if has_zero => Scale::Powers { min: min - 0.6, max },
        Scale::Powers { min, max } => Scale::Powers { min, max: max.max(min + 0.1) },
        scale @ Scale::Linear { .. } => scale,
    };
    Axis { scale, has_zero }
}

struct Axis {
    scale: Scale,
    /// Whether its lower end means nothing at all.
    has_zero: bool,
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        self.scale.place(value)
    }

    /// The numbers beside it, and what is written for them.
    fn marks(&self) -> Vec<(f64, String)> {
        let zero = self.has_zero.then(|| (0.0, "0".to_owned()));
        let above = self.scale.about(8.0).into_iter();
        // The mark of zero keeps others away from the corner.
        let above = above.filter(|mark| !self.has_zero || 0.05 < self.place(*mark));
        zero.into_iter().chain(above.map(|mark| (mark, short(mark)))).collect()
    }
}

struct Axes {
    x: Axis,
    y: Axis,
}

impl Axes {
    fn place(&self, point: &ScatterPoint) -> (f64, f64) {
        (self.right_of(point.x), self.up_to(point.y))
    }

    fn right_of(&self, x: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.x.place(x)
    }

    fn up_to(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * self.y.place(y)
    }

    fn draw(&self, svg: &mut Svg, x_name: &str, y_name: &str) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for (mark, text) in self.x.marks() {
            let x = self.right_of(mark);
            svg.line("grid", (x, TOP), (x, bottom));
            svg.label("faint mid", x, bottom + 18.0, &text);
        }
        for (mark, text) in self.y.marks() {
            let y = self.up_to(mark);
            svg.line("grid", (LEFT, y), (right, y));
            svg.label("faint right", LEFT - 8.0, y + 4.0, &text);
        }
        svg.line("frame", (LEFT, TOP), (LEFT, bottom));
        svg.line("frame", (LEFT, bottom), (right, bottom));
        svg.label("mid", f64::midpoint(LEFT, right), bottom + 42.0, &shortened(x_name, 80));
        svg.label("head", 10.0, TOP - 8.0, &shortened(y_name, 40));
    }
}

/// A rectangle that something covers.
#[derive(Clone, Copy, Debug)]
struct Patch {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Patch {
    fn around(x: f64, y: f64, by: f64) -> Self {
        Self { left: x - by, top: y - by, right: x + by, bottom: y + by }
    }

    fn touches(&self, other: &Self) -> bool {
        let beside = self.right <= other.left || other.right <= self.left;
        let above = self.bottom <= other.top || other.bottom <= self.top;
        !(beside || above)
    }

    fn is_inside(&self) -> bool {
        LEFT <= self.left
            && self.right <= WIDTH - 4.0
            && TOP - 12.0 <= self.top
            && self.bottom <= HEIGHT - BOTTOM - 2.0
    }
}

/// Where a name of that width covers nothing: near its point, or as near as can be.
fn free_patch((x, y): (f64, f64), width: f64, taken: &[Patch]) -> Patch {
    let at = |left: f64, middle: f64| Patch {
        left,
        top: middle - LETTER.1 / 2.0,
        right: left + width,
        bottom: middle + LETTER.1 / 2.0,
    };
    let rows = (0..24_i32).flat_map(|row| [row, -row]).map(|row| f64::from(row) * 7.0);
    let places = rows.flat_map(|down| {
        let beside = [at(x + 10.0, y + down), at(x - 10.0 - width, y + down)];
        // Straight above and below there must be room for the point itself.
        let above = (13.0 < down.abs()).then(|| at(x - width / 2.0, y + down));
        beside.into_iter().chain(above)
    });
    let is_free =
        |patch: &Patch| patch.is_inside() && !taken.iter().any(|other| patch.touches(other));
    places.into_iter().find(is_free).unwrap_or_else(|| at(x + 10.0, y))
}

fn draw_name(svg: &mut Svg, name: &str, at: (f64, f64), patch: &Patch, is_ours: bool) {
    let middle = f64::midpoint(patch.top, patch.bottom);
    if 14.0 < (middle - at.1).abs() {
        let near = if patch.left < at.0 { patch.right + 2.0 } else { patch.left - 2.0 };
        svg.line("leader", at, (near, middle));
    }
    let class = if is_ours { "strong" } else { "name" };
    svg.label(class, patch.left, middle + 4.0, name);
}
