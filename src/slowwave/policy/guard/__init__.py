"""Rules that refuse what is unsupported, unsafe or secret."""
