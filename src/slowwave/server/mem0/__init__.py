"""The HTTP interface `/mem0`, which mem0's own clients use."""
