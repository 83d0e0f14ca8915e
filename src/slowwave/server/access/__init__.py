"""Who may do what: keys, their rights and scopes, the names of the server, and the size of requests."""
