"""The dashboard: pages about one store for a person with a browser."""
