"""Keys, their rights and the scopes that a request may use."""
