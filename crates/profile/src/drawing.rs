//! Flame graphs, and the difference of two.
//!
//! Enters: folded stacks, what a weight means. Leaves: SVG, which loads nothing. Never: lets a
//! name become markup: inferno escapes it.

use inferno::differential;
use inferno::flamegraph::color::{MultiPalette, Palette};
use inferno::flamegraph::{Direction, Options, from_lines};
use serde::Deserialize;

use crate::error::ProfileError;
use crate::stacks::stacks;

/// Narrower frames would be a hairline, and make most of the file.
const LEAST_WIDTH_PERCENT: f64 = 0.08;
/// Of a window of its own; a page scales it.
const WIDTH: usize = 1180;

/// How a graph is labelled.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    pub title: String,
    #[serde(default)]
    pub subtitle: String,
    /// What is counted, such as "ns of CPU per transaction".
    pub unit: String,
    /// One weight of the stacks in this unit.
    #[serde(default = "one")]
    pub factor: f64,
    /// Of a difference: whether it is the graph of what was before, so that more means less.
    #[serde(default)]
    pub negated: bool,
    /// Whether it can be searched and zoomed; it then has a script.
    #[serde(default)]
    pub interactive: bool,
}

fn one() -> f64 {
    1.0
}

/// The graph of one profile; frames of the kernel have another colour.
pub fn flame_graph(folded: &str, drawing: &Drawing) -> Result<String, ProfileError> {
    let scaled = scaled(folded, drawing.factor)?;
    draw(&scaled, drawing, Palette::Multi(MultiPalette::Perl))
}

/// The graph of `after`, coloured by how much more (red) or less (blue) each frame has than in
/// `before`; the factors bring both to the same unit.
pub fn difference(
    before: (&str, f64),
    after: (&str, f64),
    drawing: &Drawing,
) -> Result<String, ProfileError> {
    let (before, after) = (scaled(before.0, before.1)?, scaled(after.0, after.1)?);
    let mut both = Vec::new();
    let options = differential::Options::default();
    differential::from_readers(options, before.as_bytes(), after.as_bytes(), &mut both)
        .map_err(ProfileError::Drawing)?;
    draw(&String::from_utf8_lossy(&both), drawing, Palette::default())
}

fn scaled(folded: &str, factor: f64) -> Result<String, ProfileError> {
    let mut text = String::new();
    for stack in stacks(folded) {
        let (frames, weight) = stack?;
        #[allow(clippy::cast_precision_loss)]
        let value = (weight as f64 * factor).round();
        text.push_str(&format!("{} {value:.0}\n", frames.join(";")));
    }
    Ok(text)
}

fn draw(lines: &str, drawing: &Drawing, colors: Palette) -> Result<String, ProfileError> {
    let mut options = Options::default();
    options.title.clone_from(&drawing.title);
    options.subtitle = Some(drawing.subtitle.clone()).filter(|text| !text.is_empty());
    options.count_name.clone_from(&drawing.unit);
    options.colors = colors;
    options.deterministic = true;
    options.direction = Direction::Inverted;
    options.hash = true;
    options.negate_differentials = drawing.negated;
    options.image_width = Some(WIDTH);
    options.min_width = LEAST_WIDTH_PERCENT;
    options.no_javascript = !drawing.interactive;
    let mut sorted: Vec<&str> = lines.lines().collect();
    sorted.sort_unstable();
    if sorted.is_empty() {
        return Err(ProfileError::Empty);
    }
    let mut svg = Vec::new();
    from_lines(&mut options, sorted, &mut svg).map_err(ProfileError::Drawing)?;
    let svg = String::from_utf8_lossy(&svg).into_owned();
    Ok(if drawing.interactive {
        svg
    } else {
        without_script(&svg)
    })
}

/// inferno leaves the script's variables and its call also where there is no script. No name can
/// be taken for them: it is escaped.
fn without_script(svg: &str) -> String {
    let svg = svg.replacen(" onload=\"init(evt)\"", "", 1);
    match (svg.find("<script"), svg.find("</script>")) {
        (Some(from), Some(to)) if from < to => {
            let rest = svg.get(to + "</script>".len()..).unwrap_or_default();
            format!("{}{rest}", svg.get(..from).unwrap_or_default())
        }
        _ => svg,
    }
}
