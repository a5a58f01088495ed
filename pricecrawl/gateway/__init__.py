"""The one door to AI models: versioned, recorded, off by default, and only ever a suggestion."""
