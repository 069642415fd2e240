"""The code that runs other libraries."""
