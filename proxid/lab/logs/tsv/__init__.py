"""Tab-separated logs: lines become columns (`scan` finds the cells, `read` makes batches) and lines again (`write`)."""
