"""The HTTP interface `/mem0`: the routes that mem0's own clients call, over the memories of scopes."""
