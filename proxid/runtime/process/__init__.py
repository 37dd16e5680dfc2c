"""Processes of a service: workers that share a port and a store, and a parent that keeps them alive (DESIGN 12, 16)."""
