"""Direct identifiers in written and spoken text, found and replaced by typed slots (DESIGN 6, HIPAA Safe Harbor)."""
