"""The Auditor: proves from evidence alone what the services did (DESIGN 10.4). It imports no store and no service.

`audit.Audit` is the library: feed it both logs' events, ask for the report. `source` says where events come from.
"""
