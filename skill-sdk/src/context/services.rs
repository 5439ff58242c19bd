//! The clients that calls share, and what stands in their place in tests.

/// Clients in the place of the installation's, for one call: the fakes of tests.
///
/// A host leaves all of it empty. Each member exists with the feature of its service, and an empty one costs nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Services {}
