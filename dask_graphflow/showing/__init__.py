"""What a user sees of the library besides results: tables, and bars of what goes on."""
