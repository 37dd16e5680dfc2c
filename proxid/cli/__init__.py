"""The `proxid` command: parses, wires, prints. Everything it does is a call into the library or a service."""
