"""`slowwave.wrap`: the clients of model providers, with a memory."""
