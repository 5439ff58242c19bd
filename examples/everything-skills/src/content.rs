//! Results with attachments, and a failure.

use skill_sdk::{Attached, Attachment, SkillError, skill};

/// One red pixel.
const IMAGE: &[u8] = include_bytes!("../assets/red.png");

/// A millisecond of silence.
const SOUND: &[u8] = include_bytes!("../assets/silence.wav");

/// Returns a text.
#[skill("test_simple_text", version = "1", side_effects = "none", risk = "low")]
pub fn simple_text() -> String {
    "This is a simple text response for testing.".to_owned()
}

/// Returns an image of one red pixel.
#[skill("test_image_content", version = "1", side_effects = "none", risk = "low")]
pub fn image_content() -> Attached<()> {
    Attached::new(()).with(Attachment::image(IMAGE, "image/png"))
}

/// Returns a millisecond of silence as audio.
#[skill("test_audio_content", version = "1", side_effects = "none", risk = "low")]
pub fn audio_content() -> Attached<()> {
    Attached::new(()).with(Attachment::audio(SOUND, "audio/wav"))
}

/// Returns an embedded document with a URI.
#[skill("test_embedded_resource", version = "1", side_effects = "none", risk = "low")]
pub fn embedded_resource() -> Attached<()> {
    let text = "This is an embedded resource content.";
    Attached::new(()).with(Attachment::document(
        "test://embedded-resource",
        "text/plain",
        text,
    ))
}

/// Returns a text, an image and a document.
#[skill(
    "test_multiple_content_types",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub fn multiple_content_types() -> Attached<u8> {
    let data = r#"{"test":"data","value":123}"#;
    Attached::new(3)
        .with(Attachment::text("Multiple content types test:"))
        .with(Attachment::image(IMAGE, "image/png"))
        .with(Attachment::document(
            "test://mixed-content-resource",
            "application/json",
            data,
        ))
}

/// Always fails.
#[skill("test_error_handling", version = "1", side_effects = "none", risk = "low")]
pub fn error_handling() -> Result<String, SkillError> {
    Err(SkillError::terminal(
        "intended",
        "This tool intentionally returns an error for testing",
    ))
}
