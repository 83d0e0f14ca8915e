"""The fault tests."""

collect_ignore = ["web_app.py"]  # a program that the tests of web servers start
