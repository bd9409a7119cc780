"""The source's tables: which columns and keys do they have, what is in them, what is free?

Of a server whose statistics or log is drawn; sessions only read.
"""
