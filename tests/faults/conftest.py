"""The fault tests."""

collect_ignore = ["web_app.py", "live_writer.py"]  # programs that tests start
