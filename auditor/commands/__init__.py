"""The auditor's commands: audit, explain, witness."""
