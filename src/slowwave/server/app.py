"""The application that `slowwave serve` runs: every interface on one port."""
