"""What operators see: structured logs and metrics, neither of which can carry personal data (DESIGN 2)."""
