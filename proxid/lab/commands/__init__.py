"""The laboratory's commands; `proxid.cli.main` names them in its table."""
