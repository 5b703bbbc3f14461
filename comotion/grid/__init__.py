"""A grid of runs: each has a name made of its content, and leaves one row when it is finished.

Nothing is imported here, so that a worker has only what its work needs.
"""
