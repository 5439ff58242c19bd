//! The cost of a call.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::platform::LlmUsage;
use crate::platform::usage::add_price;

/// The sums of one call, as the cost document writes them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Cost {
    #[serde(skip_serializing_if = "Option::is_none")]
    llm: Option<Llm>,
    /// In order of first use.
    #[serde(skip_serializing_if = "Map::is_empty")]
    units: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Llm {
    calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    models: Vec<String>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "round_to_six_places"
    )]
    cost_usd: Option<f64>,
}

impl Cost {
    pub(crate) fn add(&mut self, unit: String, amount: f64) {
        if !amount.is_finite() {
            #[cfg(feature = "runtime")]
            tracing::warn!(
                unit,
                amount,
                "an amount that is not finite is not added to the cost"
            );
            return;
        }
        let sum = self.units.entry(unit).or_insert(0.0.into());
        *sum = (sum.as_f64().unwrap_or_default() + amount).into();
    }

    pub(crate) fn add_llm(&mut self, usage: &LlmUsage) {
        let llm = self.llm.get_or_insert_default();
        llm.calls += 1;
        llm.prompt_tokens = llm.prompt_tokens.saturating_add(usage.prompt_tokens);
        llm.completion_tokens = llm.completion_tokens.saturating_add(usage.completion_tokens);
        llm.total_tokens = llm.total_tokens.saturating_add(usage.total_tokens);
        add_price(&mut llm.cost_usd, usage.cost_usd);
        if !usage.model.is_empty() && !llm.models.contains(&usage.model) {
            llm.models.push(usage.model.clone());
        }
    }

    /// The cost document; `None` without any cost.
    pub(crate) fn document(&self) -> Option<Value> {
        let spent = self.llm.is_some() || !self.units.is_empty();
        spent.then(|| serde_json::to_value(self).unwrap_or_default())
    }
}

/// Rounds the exact binary value, half to even, as decimal printing does.
#[expect(clippy::ref_option, reason = "serde passes a field by reference")]
fn round_to_six_places<S: Serializer>(price: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let round = |price: f64| format!("{price:.6}").parse().unwrap_or(price);
    price.map(round).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cost_gives_no_document() {
        assert_eq!(Cost::default().document(), None);
    }

    #[test]
    fn units_add_up_in_order_of_first_use() {
        let mut cost = Cost::default();
        for (unit, amount) in [
            ("b", 1.0),
            ("a", 2.0),
            ("b", 0.5),
            ("c", f64::NAN),
            ("d", f64::INFINITY),
        ] {
            cost.add(unit.into(), amount);
        }
        assert_eq!(
            cost.document().unwrap().to_string(),
            r#"{"units":{"b":1.5,"a":2.0}}"#
        );
    }

    #[test]
    fn a_price_that_is_not_finite_is_left_out() {
        let mut cost = Cost::default();
        for price in [0.5, f64::NAN, f64::INFINITY] {
            cost.add_llm(&LlmUsage::new("m").price(price));
        }
        assert_eq!(cost.document().unwrap()["llm"]["costUsd"], 0.5);
    }

    #[test]
    fn models_are_before_units() {
        let mut cost = Cost::default();
        cost.add("page".into(), 2.0);
        cost.add_llm(&LlmUsage {
            model: "b".into(),
            total_tokens: 15,
            cost_usd: Some(0.1),
            ..LlmUsage::default()
        });
        cost.add_llm(&LlmUsage {
            model: "a".into(),
            cost_usd: Some(0.2),
            ..LlmUsage::default()
        });
        cost.add_llm(&LlmUsage {
            model: "b".into(),
            ..LlmUsage::default()
        });
        assert_eq!(
            cost.document().unwrap().to_string(),
            r#"{"llm":{"calls":3,"promptTokens":0,"completionTokens":0,"totalTokens":15,"models":["b","a"],"costUsd":0.3},"units":{"page":2.0}}"#
        );
    }
}
