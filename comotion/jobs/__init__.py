"""Work that survives interruption: engines, rows of what is finished, provenance.

Nothing is imported here, so that a worker has only what its work needs.
"""
