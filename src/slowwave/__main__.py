"""`python -m slowwave` is the command `slowwave`."""

from slowwave.cli import main

if __name__ == "__main__":
    main()
