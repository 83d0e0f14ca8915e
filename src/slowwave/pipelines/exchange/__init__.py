"""Import, export and vaults."""
