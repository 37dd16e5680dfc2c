"""The auditor as a service (DESIGN 10.5): what is presented, judgements, heads of others, reports, scheduled audits."""
