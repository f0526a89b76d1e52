//! What a call gives back.

use serde_json::Value;

/// One block of a result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Clean text: valid UTF-8 without escape sequences and without control characters but `\n` and `\t`.
    Text(String),
    /// A picture.
    Image {
        /// Its type, for example `image/png`.
        mime_type: String,
        /// Its bytes.
        data: Vec<u8>,
    },
}

/// The result of a call: readable content, and the same facts as JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads, in order.
    pub content: Vec<Content>,
    /// The same facts as a JSON object, as the tool's output schema describes.
    pub structured: Option<Value>,
}

impl ToolOutput {
    /// Makes a result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], structured: None }
    }

    /// Adds the same facts as a JSON object.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// Returns the text blocks, joined by newlines.
    pub fn as_text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| match block {
                Content::Text(text) => Some(text.as_str()),
                Content::Image { .. } => None,
            })
            .collect();
        texts.join("\n")
    }
}
