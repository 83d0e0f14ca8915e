"""The HTTP interface `/v1`."""
