//! A row as a measuring program prints it, and the judgement on it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One measurement. A value that could not be taken is `null`, and over any limit.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Row {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) unit: String,
    /// The median of the floor, where there is one.
    pub(crate) floor: Option<f64>,
    /// The median of ours.
    pub(crate) ours: Option<f64>,
    /// The median of the ratios of ours to the floor, by pairs of runs.
    pub(crate) ratio: Option<f64>,
    pub(crate) limit: Option<Limit>,
}

/// What a row is held against.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Limit {
    pub(crate) of: Of,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_least: Option<f64>,
}

/// Which value is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Of {
    Ours,
    Ratio,
}

/// What came of holding a row against its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Over,
    /// There is no limit; the row is shown to compare.
    None,
}

impl Row {
    pub(crate) fn verdict(&self) -> Verdict {
        let Some(limit) = self.limit else {
            return Verdict::None;
        };
        let value = match limit.of {
            Of::Ours => self.ours,
            Of::Ratio => self.ratio,
        };
        // Not measured, or not a number, is no pass.
        let holds = value.is_some_and(|value| {
            limit.at_most.is_none_or(|most| value <= most) && limit.at_least.is_none_or(|least| value >= least)
        });
        if holds { Verdict::Pass } else { Verdict::Over }
    }

    pub(crate) fn to_json(&self) -> Value {
        let verdict = match self.verdict() {
            Verdict::Pass => json!("pass"),
            Verdict::Over => json!("over"),
            Verdict::None => Value::Null,
        };
        let mut value = json!(self);
        value["verdict"] = verdict;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: Value, ratio: Value, limit: Value, expected: Verdict) {
        let row = json!({
            "group": "g", "name": "n", "unit": "ms", "floor": null, "ours": ours, "ratio": ratio, "limit": limit,
        });
        let row: Row = serde_json::from_value(row).expect("a row");
        assert_eq!(row.verdict(), expected, "{row:?}");
    }

    #[test]
    fn rows_are_held_against_their_limits() {
        check(json!(5.0), json!(1.2), json!({"of": "ratio", "atMost": 1.2}), Verdict::Pass);
        check(json!(1.0), json!(1.3), json!({"of": "ratio", "atMost": 1.2}), Verdict::Over);
        check(json!(1.0), json!(2.9), json!({"of": "ratio", "atLeast": 3.0}), Verdict::Over);
        check(json!(1.0), json!(9.0), json!({"of": "ours", "atMost": 1.0}), Verdict::Pass);
        check(json!(0.2), json!(null), json!({"of": "ours", "atLeast": 0.3}), Verdict::Over);
        check(json!(0.2), json!(null), json!(null), Verdict::None);
    }

    #[test]
    fn what_was_not_measured_does_not_pass() {
        check(json!(null), json!(null), json!({"of": "ours", "atMost": 1.0}), Verdict::Over);
        check(json!(1.0), json!(null), json!({"of": "ratio", "atLeast": 1.0}), Verdict::Over);
    }
}
