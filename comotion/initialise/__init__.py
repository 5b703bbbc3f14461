"""The only room that looks at data to set numbers."""
