"""gRPC plumbing shared by services and clients: mutual TLS, peers, the one table of statuses, conversions."""
