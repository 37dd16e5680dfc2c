"""Evidence (DESIGN 10): what the services record and the auditor reads.

`events` names the events and lays out their headers and payloads; both sides use it, so they cannot disagree.
"""
