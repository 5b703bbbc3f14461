"""The one exception a user's mistake raises: its text is a single sentence that says what to do."""


class BadInput(ValueError):
    """Bad data, a bad file or a bad choice; the command line prints it and exits with 2.

    >>> try:
    ...     cm.system("comotoin")
    ... except cm.BadInput as error:
    ...     print(str(error)[:61])
    there is no system 'comotoin' (did you mean comotion?): choos
    """
