"""What the whole tool uses and that knows nothing of Relax: encoding, files, text, errors.

Imports nothing of the tool.
"""
