"""Releases that hide users, or sessions, among k others (003 §3): k-query, k-session and k-keyword anonymity."""
