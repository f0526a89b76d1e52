//! Hiding secrets in what leaves the bus, and learning those that a person gives.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tool_api::{Content, Mask, NoMask, Person, SecretAnswer, SecretRequest, ToolError, ToolOutput, async_trait};

/// Hides secrets in every text of a result, also in its structured form. Before it is bounded, so that no cut divides
/// a secret.
pub(crate) fn mask_output(mut output: ToolOutput, mask: &dyn Mask) -> ToolOutput {
    for block in &mut output.content {
        if let Content::Text(text) = block {
            mask_text(text, mask);
        }
    }
    if let Some(structured) = &mut output.structured {
        mask_value(structured, mask);
    }
    output
}

/// Hides secrets in an error. Keeps the error itself, with its causes, when there is nothing to hide.
pub(crate) fn mask_error(error: ToolError, mask: &dyn Mask) -> ToolError {
    let report = error.report();
    if let Cow::Borrowed(_) = mask.mask("", &report, "") {
        return error;
    }
    let hint = error.hint().map(str::to_owned);
    let message = match &hint {
        Some(hint) => report.strip_suffix(&format!("\nhint: {hint}")).unwrap_or(&report),
        None => &report,
    };
    let masked = ToolError::new(error.kind(), mask.mask("", message, ""));
    match hint {
        Some(hint) => masked.with_hint(mask.mask("", &hint, "")),
        None => masked,
    }
}

/// Hides secrets in a text.
pub(crate) fn mask_text(text: &mut String, mask: &dyn Mask) {
    if let Cow::Owned(masked) = mask.mask("", text, "") {
        *text = masked;
    }
}

/// Names are the tools' own; what comes from outside is in the values.
fn mask_value(value: &mut Value, mask: &dyn Mask) {
    match value {
        Value::String(text) => mask_text(text, mask),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, mask)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mask_value(field, mask)),
        _ => {}
    }
}

/// Hides nothing, but passes on what is learned to the mask of what stays masked: the audit.
#[derive(Debug)]
pub(crate) struct Unmasked(pub(crate) Arc<dyn Mask>);

impl Mask for Unmasked {
    fn mask<'t>(&self, before: &str, text: &'t str, after: &str) -> Cow<'t, str> {
        NoMask.mask(before, text, after)
    }

    fn secrets(&self, before: &str, text: &str, after: &str) -> Vec<Range<usize>> {
        NoMask.secrets(before, text, after)
    }

    fn unfinished(&self, text: &str) -> usize {
        NoMask.unfinished(text)
    }

    fn learn(&self, secret: &[u8]) {
        self.0.learn(secret);
    }
}

/// A person whose secrets are hidden from the moment they are given, before anything types them.
#[derive(Debug)]
pub(crate) struct Remembered {
    pub(crate) person: Arc<dyn Person>,
    pub(crate) mask: Arc<dyn Mask>,
}

#[async_trait]
impl Person for Remembered {
    async fn secret(&self, request: SecretRequest) -> SecretAnswer {
        let answer = self.person.secret(request).await;
        if let SecretAnswer::Given(secret) = &answer {
            let line = secret.expose().trim_ascii_end();
            self.mask.learn(line);
        }
        answer
    }
}
