"""The HTTP interface `/v1`: each route calls one public method of the library."""
