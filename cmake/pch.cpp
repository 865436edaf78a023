// Anchor of the precompiled headers: a target needs a source.
