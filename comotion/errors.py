"""The one exception a user's mistake raises: its text is a single sentence that says what to do."""


class BadInput(ValueError):
    """Bad data, a bad file or a bad choice; the command line prints it and exits with 2."""
