"""Workflows that inspect, correct and erase."""
