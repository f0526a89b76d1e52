//! One row of the table, and the statistics behind it.

use serde_json::{Value, json};

/// What a row is held against.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// The ratio of ours to the floor is at most this.
    RatioAtMost(f64),
    /// The ratio is at least this, where more is better.
    RatioAtLeast(f64),
    /// Our own value is at most this.
    AtMost(f64),
    /// Our own value is at least this.
    AtLeast(f64),
    /// Nothing: shown to compare.
    None,
}

/// Two measurements of the same thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pair {
    floor: Vec<f64>,
    ours: Vec<f64>,
}

impl Pair {
    pub(crate) fn push(&mut self, floor: f64, ours: f64) {
        self.floor.push(floor);
        self.ours.push(ours);
    }

    /// Prints the row: both medians, and the median of the ratios of runs that followed each other. The latter is not
    /// the ratio of the former: a machine that slows down half-way moves the medians, hardly the ratios.
    pub(crate) fn print(&self, group: &str, name: &str, unit: &str, limit: Limit) {
        let ratios = self.floor.iter().zip(&self.ours).map(|(floor, ours)| ours / floor).collect();
        let floor = Some(median(self.floor.clone()));
        emit(group, name, unit, floor, median(self.ours.clone()), Some(median(ratios)), limit);
    }
}

/// Prints a row that has no floor.
pub(crate) fn print_alone(group: &str, name: &str, unit: &str, ours: f64, limit: Limit) {
    emit(group, name, unit, None, ours, None, limit);
}

fn emit(group: &str, name: &str, unit: &str, floor: Option<f64>, ours: f64, ratio: Option<f64>, limit: Limit) {
    let limit = match limit {
        Limit::RatioAtMost(most) => json!({"of": "ratio", "atMost": most}),
        Limit::RatioAtLeast(least) => json!({"of": "ratio", "atLeast": least}),
        Limit::AtMost(most) => json!({"of": "ours", "atMost": most}),
        Limit::AtLeast(least) => json!({"of": "ours", "atLeast": least}),
        Limit::None => Value::Null,
    };
    let row = json!({
        "group": group, "name": name, "unit": unit, "floor": floor, "ours": ours, "ratio": ratio, "limit": limit,
    });
    println!("{row}");
}

/// The middle value.
pub(crate) fn median(values: Vec<f64>) -> f64 {
    percentile(values, 0.5)
}

/// The value that this part of all values do not exceed.
pub(crate) fn percentile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Runs `floor` and `ours` that many times each, alternating which comes first.
pub(crate) fn alternate<T>(
    repetitions: usize,
    mut floor: impl FnMut() -> crate::Result<T>,
    mut ours: impl FnMut() -> crate::Result<T>,
    mut keep: impl FnMut(T, T),
) -> crate::Result<()> {
    for repetition in 0..repetitions {
        if repetition % 2 == 0 {
            let first = floor()?;
            keep(first, ours()?);
        } else {
            let first = ours()?;
            keep(floor()?, first);
        }
    }
    Ok(())
}
