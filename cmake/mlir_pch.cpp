// Anchor of the precompiled header that every compiler library reuses.
