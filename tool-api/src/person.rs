//! The person behind a front, who can give what the model must not see.

use std::fmt::{self, Debug};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::ChatId;

/// A secret text. Its `Debug` shows nothing, and its bytes are overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes a secret.
    pub fn new(text: impl Into<Vec<u8>>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself, to be typed and not to be kept.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        // A best effort without `unsafe`: copies made before are not reached.
        self.0.fill(0);
        std::hint::black_box(&mut self.0);
    }
}

/// A question for a secret.
#[derive(Clone, Debug)]
pub struct SecretRequest {
    /// The chat it is for.
    pub chat: ChatId,
    /// What reads the secret, for example `ssh in session s3`.
    pub program: String,
    /// The prompt that the program printed, clean text.
    pub prompt: String,
    /// Is cancelled when the answer is no longer wanted.
    pub cancel: CancellationToken,
}

/// The answer to a [`SecretRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretAnswer {
    /// The secret.
    Given(Secret),
    /// The person will not give it, or did not answer in time.
    Refused,
    /// The front has no way to ask.
    Unavailable,
    /// The question was recorded; the front asks it and calls again.
    Suspended,
}

/// The person behind a front.
///
/// ```
/// use tool_api::{Person, Secret, SecretAnswer, SecretRequest, async_trait};
///
/// #[derive(Debug)]
/// struct AlwaysTheSame;
///
/// #[async_trait]
/// impl Person for AlwaysTheSame {
///     async fn secret(&self, _request: SecretRequest) -> SecretAnswer {
///         SecretAnswer::Given(Secret::new("correct horse"))
///     }
/// }
/// # let _ = AlwaysTheSame;
/// ```
#[async_trait]
pub trait Person: Debug + Send + Sync {
    /// Asks for a secret, which never reaches the model, a log or a result.
    async fn secret(&self, request: SecretRequest) -> SecretAnswer;
}

/// Nobody is there to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

#[async_trait]
impl Person for Nobody {
    async fn secret(&self, _request: SecretRequest) -> SecretAnswer {
        SecretAnswer::Unavailable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let answer = SecretAnswer::Given(Secret::new("hunter2"));
        assert!(!format!("{answer:?}").contains("hunter2"));
    }
}
