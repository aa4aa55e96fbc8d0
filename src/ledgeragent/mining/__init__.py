"""A pack drafted from recorded conversations: what tools read, write and return, told by what they did."""
