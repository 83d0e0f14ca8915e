"""The dashboard: pages about one store for a person with a browser."""

from slowwave.server.dashboard.site import create_dashboard

__all__ = ["create_dashboard"]
