"""One module per platform: its row type, its navigation, its reading, in that order."""
