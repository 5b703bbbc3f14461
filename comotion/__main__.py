"""`python -m comotion` is the command, where the command itself is not on the path."""

import sys

from comotion.cli import main

if __name__ == "__main__":
    sys.exit(main())
