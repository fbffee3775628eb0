"""`python -m pubcheck` is the command line."""

from pubcheck.cli import main

if __name__ == "__main__":
    main()
