"""Work that outlives a request: jobs on threads, and plans that wait to be applied."""
