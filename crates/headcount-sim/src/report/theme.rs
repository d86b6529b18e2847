//! Colours and letters, for light and for dark.

/// A colour on light ground and its pair on dark ground.
pub(super) struct Hue {
    pub(super) light: &'static str,
    pub(super) dark: &'static str,
}

/// One for each run, told apart by those who see few colours too; then they begin again.
pub(super) const HUES: [Hue; 8] = [
    Hue { light: "#1d5fb4", dark: "#79b8ff" },
    Hue { light: "#b8420a", dark: "#ffa657" },
    Hue { light: "#11734b", dark: "#6fdc9c" },
    Hue { light: "#7a2fbf", dark: "#d2a8ff" },
    Hue { light: "#a5123d", dark: "#ff9bb0" },
    Hue { light: "#0b6e7a", dark: "#5fd3e0" },
    Hue { light: "#7a5a00", dark: "#e6c84f" },
    Hue { light: "#4a5568", dark: "#b4c0d0" },
];

pub(super) const GROUND: Hue = Hue { light: "#ffffff", dark: "#14171c" };
pub(super) const INK: Hue = Hue { light: "#1c2128", dark: "#e2e6eb" };
pub(super) const FAINT_INK: Hue = Hue { light: "#57606a", dark: "#9aa4b0" };
const GRID: Hue = Hue { light: "#e3e6ea", dark: "#2b3038" };
const DEMAND: Hue = Hue { light: "#d3d9e0", dark: "#3a424d" };
pub(super) const PROMISE: Hue = Hue { light: "#c11c1c", dark: "#ff7b72" };

/// The class of the run with that number.
pub(super) fn run_class(number: usize) -> String {
    format!("r{}", number % HUES.len())
}

/// The style of a picture.
pub(super) fn picture_style() -> String {
    let fixed = "\
.picture{font:12px system-ui,sans-serif;max-width:100%;height:auto}\n\
.line{fill:none;stroke-width:1.6;stroke-linejoin:round}\n\
.bound{fill:none;stroke-width:1;stroke-dasharray:2 3;opacity:.8}\n\
.grid,.frame,.promise,.leader{fill:none;stroke-width:1}\n\
.promise{stroke-width:1.4;stroke-dasharray:7 4}\n\
.title{font-size:17px;font-weight:600}\n\
.head{font-size:12.5px;font-weight:600}\n\
.right{text-anchor:end}\n\
.mid{text-anchor:middle}\n\
.strong{font-weight:700}\n";
    let dark = colours(|hue| hue.dark);
    let light = colours(|hue| hue.light);
    format!("{fixed}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n")
}

fn colours(of: impl Fn(&Hue) -> &'static str) -> String {
    let fixed = format!(
        ".picture text{{fill:{ink}}}\n.picture .faint{{fill:{faint}}}\n.ground{{fill:{ground}}}\n\
         .grid{{stroke:{grid}}}\n.frame,.leader{{stroke:{faint}}}\n\
         .demand{{fill:{demand};stroke:{faint};stroke-width:.4}}\n\
         .promise{{stroke:{promise}}}\n",
        ink = of(&INK),
        faint = of(&FAINT_INK),
        ground = of(&GROUND),
        grid = of(&GRID),
        demand = of(&DEMAND),
        promise = of(&PROMISE),
    );
    let runs = HUES.iter().enumerate().map(|(number, hue)| {
        let (class, colour) = (run_class(number), of(hue));
        format!(".{class}{{stroke:{colour}}}.f{class}{{fill:{colour}}}\n")
    });
    std::iter::once(fixed).chain(runs).collect::<Vec<_>>().concat()
}

/// The style of the page around a picture.
pub(super) fn page_style() -> String {
    let colours = |of: fn(&Hue) -> &'static str| {
        format!(
            "body{{background:{};color:{}}}\n.subtitle,time{{color:{}}}\n\
             th,td{{border-color:{}}}\n",
            of(&GROUND),
            of(&INK),
            of(&FAINT_INK),
            of(&GRID),
        )
    };
    format!(
        "body{{font:15px/1.5 system-ui,sans-serif}}\n\
         body{{max-width:1040px;margin:2rem auto;padding:0 1rem}}\n\
         h1{{font-size:1.5rem;margin:0}}\nh2{{font-size:1.1rem;margin:2rem 0 .5rem}}\n\
         .subtitle{{margin:.2rem 0 1rem}}\n.wide{{overflow-x:auto}}\n\
         table{{border-collapse:collapse}}\n\
         th,td{{border-bottom:1px solid;padding:.3rem .8rem;text-align:right;white-space:nowrap}}\n\
         th:first-child,td:first-child{{text-align:left}}\n\
         ol{{list-style:none;padding:0;margin:.5rem 0}}\nli{{padding:.1rem 0}}\n\
         time{{display:inline-block;min-width:7rem;font-variant-numeric:tabular-nums}}\n\
         summary{{cursor:pointer}}\n{}@media (prefers-color-scheme:dark){{\n{}}}\n",
        colours(|hue| hue.light),
        colours(|hue| hue.dark),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright a colour is, as the accessibility guidelines reckon it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[track_caller]
    fn check(one: &str, other: &str, contrast_min: f64) {
        let (a, b) = (luminance(one) + 0.05, luminance(other) + 0.05);
        assert!(contrast_min <= a.max(b) / a.min(b), "{one} on {other}: {}", a.max(b) / a.min(b));
    }

    #[test]
    fn words_and_lines_stand_out_from_the_ground() {
        for hue in HUES.iter().chain([&INK, &FAINT_INK, &PROMISE]) {
            check(hue.light, GROUND.light, 4.5);
            check(hue.dark, GROUND.dark, 4.5);
        }
        // Lines cross the area of the demand.
        for hue in &HUES {
            check(hue.light, DEMAND.light, 3.0);
            check(hue.dark, DEMAND.dark, 3.0);
        }
    }
}
