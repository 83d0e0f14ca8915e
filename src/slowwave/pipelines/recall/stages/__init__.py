"""The stages of a search and of a context: each takes the hits of a question and returns them in a new order, or fewer of them."""
