"""What an audit found, for people: words, tables, a page."""
