"""What a shop's own selectors are: their record, which of them leads, and how new ones are found."""
