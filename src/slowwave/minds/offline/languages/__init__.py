"""The words of each language by which the rules know orders, names, scenes and what is not to be kept."""
